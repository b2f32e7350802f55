/*
 * Open addressing with linear probing over 8-byte slots: 32 bits of the hash
 * and the record number.  The hash bits beyond those that chose the slot
 * filter nearly all false candidates, so that the caller's comparison (a
 * cache miss) runs about once a hit, and growing needs no call to the caller.
 */
#include "base/map.h"

#include <assert.h>
#include <string.h>

static size_t slots_for(size_t records)
{
    size_t slots = 16;

    while (slots - slots / 4 <= records)
        slots *= 2;
    return slots;
}

static void set_size(struct map *m, size_t slots)
{
    m->slots = arena_alloc_raw(m->arena, slots * sizeof(*m->slots));
    memset(m->slots, 0xff, slots * sizeof(*m->slots));
    m->mask = slots - 1;
}

void map_init(struct map *m, struct arena *a, size_t expected)
{
    *m = (struct map){.arena = a};
    set_size(m, slots_for(expected));
    m->seed = hash_seed(m->slots);
}

static size_t first_free(const struct map *m, uint32_t hash)
{
    size_t at = hash & m->mask;

    while (m->slots[at] != MAP_EMPTY)
        at = (at + 1) & m->mask;
    return at;
}

static void grow(struct map *m, size_t slots)
{
    uint64_t *old = m->slots;
    size_t old_slots = m->mask + 1;

    set_size(m, slots);
    for (size_t i = 0; i < old_slots; i++)
        if (old[i] != MAP_EMPTY)
            m->slots[first_free(m, (uint32_t)(old[i] >> 32))] = old[i];
    arena_release(m->arena, old, old_slots * sizeof(*old));
}

void map_reserve(struct map *m, size_t more)
{
    size_t slots = slots_for(m->n + more);

    if (slots > m->mask + 1)
        grow(m, slots);
}

void map_add(struct map *m, const struct map_cursor *c, uint32_t record)
{
    size_t slot = c->slot;

    assert(record != MAP_NONE && m->slots[slot] == MAP_EMPTY);
    if (m->n >= m->mask - m->mask / 4) {
        grow(m, 2 * (m->mask + 1));
        slot = first_free(m, c->hash);
    }
    m->slots[slot] = (uint64_t)c->hash << 32 | record;
    m->n++;
}
