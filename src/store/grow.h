#ifndef STORE_GROW_H
#define STORE_GROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/*
 * Growing arrays on malloc.  A store outlives every request, so running out
 * of memory must be an error of the request and nothing more; arenas end the
 * program.
 *
 *     if (!grow(&d->nodes, &d->nodes_cap, d->n_nodes + 1))
 *         return false;
 *
 * `cap` is a size_t.  On failure the array is as it was.
 */
#define grow(array, cap, need)                                                 \
    ((need) <= *(cap) ||                                                       \
     grow_((void **)(array), (cap), (need), sizeof(**(array))))

static inline bool grow_(void **array, size_t *cap, size_t need, size_t size)
{
    size_t want = *cap + *cap / 2;
    void *bigger;

    if (want < need)
        want = need;
    if (want < 8)
        want = 8;
    if (want > (size_t)-1 / 2 / size)
        return false;
    bigger = realloc(*array, want * size);
    if (!bigger)
        return false;
    *array = bigger;
    *cap = want;
    return true;
}

#endif
