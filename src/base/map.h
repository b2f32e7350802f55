#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/*
 * A hash index: hash -> record number.
 *
 * The records live in the caller's own array; the map holds only (hash,
 * number) and asks the caller "is it record i?".  One structure so serves
 * strings, functions, locations and stacks:
 *
 *     struct map_cursor c = map_find(&m, hash);
 *     while (map_next(&m, &c))
 *         if (same(&records[c.record], key))
 *             return c.record;
 *     map_add(&m, &c, n_records);     // absent: put it where the search ended
 *
 * Nothing is ever removed.  Record numbers are below MAP_NONE.
 */
#define MAP_NONE UINT32_MAX

struct map {
    struct arena *arena;
    uint64_t *slots; /* upper half: hash, lower half: record; EMPTY if free */
    size_t mask;     /* slots - 1; 0 before the first add */
    size_t n;
};

struct map_cursor {
    uint32_t record; /* candidate, after map_next said true */
    uint32_t hash;
    size_t slot;
};

/* Expects about `expected` records; 0 for "don't know". */
void map_init(struct map *m, struct arena *a, size_t expected);

struct map_cursor map_find(const struct map *m, uint64_t hash);
bool map_next(const struct map *m, struct map_cursor *c);

/* Asks for the memory that map_find and map_next will look at.  For callers
 * that know many hashes ahead of many searches. */
void map_prefetch(const struct map *m, uint64_t hash);

/* Adds at the place where map_next said false. */
void map_add(struct map *m, const struct map_cursor *c, uint32_t record);

/* Mixes a 64-bit word into a running hash. */
static inline uint64_t map_mix(uint64_t h, uint64_t word)
{
    h = (h ^ word) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 32;
}

#endif
