#ifndef BASE_VEC_H
#define BASE_VEC_H

#include <stddef.h>

#include "base/arena.h"

/*
 * A growing array in an arena:
 *
 *     VEC(struct node) nodes = {0};
 *     *vec_push(arena, &nodes) = (struct node){…};
 *     for (size_t i = 0; i < nodes.n; i++) use(&nodes.v[i]);
 *
 * Pointers into it die with the next push; indices live on.
 */
#define VEC(T)                                                                 \
    struct {                                                                   \
        T *v;                                                                  \
        size_t n, cap;                                                         \
    }

/* Room for `more` further elements. */
#define vec_reserve(arena, vec, more)                                          \
    ((vec)->cap - (vec)->n >= (size_t)(more)                                   \
         ? (void)0                                                             \
         : vec_grow_((arena), (void **)&(vec)->v, &(vec)->cap, (vec)->n,       \
                     (size_t)(more), sizeof(*(vec)->v)))

/* One zeroed element more; its address. */
#define vec_push(arena, vec)                                                   \
    (vec_reserve((arena), (vec), 1), &(vec)->v[(vec)->n++])

static inline void vec_grow_(struct arena *a, void **v, size_t *cap, size_t n,
                             size_t more, size_t size)
{
    size_t want = *cap + *cap / 2;

    if (want < n + more)
        want = n + more;
    if (want < 8)
        want = 8;
    *v = arena_grow(a, *v, *cap * size, want * size);
    *cap = want;
}

#endif
