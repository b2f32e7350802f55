#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/hash.h"

/*
 * A hash index: hash -> record number.
 *
 * The records live in the caller's own array; the map holds only (hash, number)
 * and asks the caller "is it record i?".  The same structure serves strings,
 * functions, locations and stacks:
 *
 *     struct map_cursor c = map_find(&m, hash);
 *     while (map_next(&m, &c))
 *         if (same(&records[c.record], key))
 *             return c.record;
 *     map_add(&m, &c, n_records);     // absent: put it where the search ended
 *
 * Nothing is ever removed.  Record numbers are below MAP_NONE.
 *
 * An attacker could choose keys that all have the same hash, so that every
 * search visits all of them.  A hash over untrusted words therefore starts with
 * the map's seed, which nobody outside the process knows.
 */
#define MAP_NONE  UINT32_MAX
#define MAP_EMPTY UINT64_MAX /* a free slot */

struct map {
    struct arena *arena;
    uint64_t *slots; /* upper half: hash, lower half: record, or MAP_EMPTY */
    size_t mask;     /* slots - 1; 0 before the first add */
    size_t n;
    uint64_t seed; /* different for each map and process */
};

struct map_cursor {
    uint32_t record; /* candidate, after map_next said true */
    uint32_t hash;
    size_t slot;
};

/* Expects about `expected` records; 0 for "don't know". */
void map_init(struct map *m, struct arena *a, size_t expected);

/* Room for `more` further records, which then need no growing. */
void map_reserve(struct map *m, size_t more);

/* Adds at the place where map_next said false. */
void map_add(struct map *m, const struct map_cursor *c, uint32_t record);

/* Mixes a 64-bit word into a running hash. */
static inline uint64_t map_mix(uint64_t h, uint64_t word)
{
    return hash_mix(h ^ word);
}

/* The bits that choose the slot and are stored in it; they depend on all bits
 * of the hash. */
static inline uint32_t map_fold_(const struct map *m, uint64_t hash)
{
    return (uint32_t)(map_mix(m->seed, hash) >> 32);
}

static inline struct map_cursor map_find(const struct map *m, uint64_t hash)
{
    uint32_t folded = map_fold_(m, hash);

    return (struct map_cursor){
        .record = MAP_NONE,
        .hash = folded,
        .slot = folded & m->mask,
    };
}

static inline bool map_next(const struct map *m, struct map_cursor *c)
{
    if (c->record != MAP_NONE)
        c->slot = (c->slot + 1) & m->mask;
    for (;; c->slot = (c->slot + 1) & m->mask) {
        uint64_t slot = m->slots[c->slot];

        if (slot == MAP_EMPTY)
            return false;
        if ((uint32_t)(slot >> 32) == c->hash) {
            c->record = (uint32_t)slot;
            return true;
        }
    }
}

/* Prefetches the memory that map_find and map_next will read.  For callers that
 * know many hashes before they search. */
static inline void map_prefetch(const struct map *m, uint64_t hash)
{
    __builtin_prefetch(&m->slots[map_fold_(m, hash) & m->mask], 1);
}

#endif
