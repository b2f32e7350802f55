#ifndef PROFILE_IDINDEX_H
#define PROFILE_IDINDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"

/*
 * From the ids that a file gives its mappings, locations and functions to
 * their places in our arrays.
 *
 * Most writers number from 1 in order: then no table exists at all and the
 * answer is id - 1.  Ids that are merely small use an array, the rest a hash
 * map.  Memory comes from the arena given.
 */
struct id_index {
    struct arena *arena;
    size_t expected;   /* ids up to this one go into `direct` */
    uint32_t in_order; /* ids 1..in_order are at 0..in_order-1 */
    uint32_t *direct;  /* NULL while all ids came in order */
    struct map sparse;
    VEC(struct id_place {
        uint64_t id;
        uint32_t place;
    })
    places; /* of the sparse ids */
};

/* For about `expected` ids. */
void id_index_init(struct id_index *x, struct arena *a, size_t expected);

/* The place of an id, or UINT32_MAX. */
uint32_t id_index_find_slow(const struct id_index *x, uint64_t id);

static inline uint32_t id_index_find(const struct id_index *x, uint64_t id)
{
    if (!x->direct)
        return id - 1 < x->in_order ? (uint32_t)(id - 1) : UINT32_MAX;
    return id_index_find_slow(x, id);
}

/* Sets the place of an id; the last one given counts. */
void id_index_add(struct id_index *x, uint64_t id, uint32_t place);

#endif
