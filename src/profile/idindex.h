#ifndef PROFILE_IDINDEX_H
#define PROFILE_IDINDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/*
 * Maps the ids of mappings, locations and functions in a file to indices in our
 * arrays.
 *
 * Most writers number from 1 in order: then no table exists at all and the
 * answer is id - 1.  Ids that are merely small use an array, the rest a hash
 * table with the ids in its slots, so that a look-up is one cache miss: a
 * profile has tens of frames to look up for each location.  (With base/map.h,
 * which makes it two, decoding 24 million frames with random ids took 2.1 s
 * instead of 0.8.)
 * Memory comes from the arena given.
 */
struct id_slot {
    uint64_t id;
    uint32_t place; /* UINT32_MAX: free */
};

struct id_index {
    struct arena *arena;
    size_t expected;   /* ids up to this one go into `direct` */
    uint32_t in_order; /* ids 1..in_order are at 0..in_order-1 */
    uint32_t *direct;  /* NULL while all ids came in order */
    struct id_slot *slots;
    size_t n_slots, n_sparse;
    uint64_t seed; /* so that nobody can choose ids that collide */
};

/* For about `expected` ids. */
void id_index_init(struct id_index *x, struct arena *a, size_t expected);

uint32_t id_index_find_sparse(const struct id_index *x, uint64_t id);

/* The place of an id, or UINT32_MAX. */
static inline uint32_t id_index_find(const struct id_index *x, uint64_t id)
{
    if (!x->direct)
        return id - 1 < x->in_order ? (uint32_t)(id - 1) : UINT32_MAX;
    return id <= x->expected ? x->direct[id] : id_index_find_sparse(x, id);
}

/* The id will be looked up soon. */
void id_index_prefetch(const struct id_index *x, uint64_t id);

void id_index_add_elsewhere(struct id_index *x, uint64_t id, uint32_t place);

/* Sets the place of an id; the last one given counts. */
static inline void id_index_add(struct id_index *x, uint64_t id, uint32_t place)
{
    if (!x->direct && id == (uint64_t)place + 1 && place == x->in_order &&
        id <= x->expected)
        x->in_order++;
    else
        id_index_add_elsewhere(x, id, place);
}

#endif
