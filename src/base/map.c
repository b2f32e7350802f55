/*
 * Open addressing with linear probing over 8-byte slots: 32 bits of the hash
 * and the record number.  The hash bits beyond those that chose the slot
 * filter nearly all false candidates, so that the caller's comparison (a
 * cache miss) runs about once a hit, and growing needs no call to the caller.
 */
#include "base/map.h"

#include <string.h>

#define EMPTY UINT64_MAX

static size_t slots_for(size_t records)
{
    size_t slots = 16;

    while (slots - slots / 4 <= records)
        slots *= 2;
    return slots;
}

static void set_size(struct map *m, size_t slots)
{
    m->slots = arena_alloc_array(m->arena, slots, sizeof(*m->slots));
    memset(m->slots, 0xff, slots * sizeof(*m->slots));
    m->mask = slots - 1;
}

void map_init(struct map *m, struct arena *a, size_t expected)
{
    *m = (struct map){.arena = a};
    set_size(m, slots_for(expected));
}

/* 32 bits of the hash.  The upper half of a product hangs on every bit below
 * it.  Merely folding the halves would undo the last step of map_mix and
 * leave the upper half of its last word without any say. */
static uint32_t fold(uint64_t hash)
{
    return (uint32_t)(map_mix(0, hash) >> 32);
}

struct map_cursor map_find(const struct map *m, uint64_t hash)
{
    uint32_t folded = fold(hash);

    return (struct map_cursor){
        .record = MAP_NONE,
        .hash = folded,
        .slot = folded & m->mask,
    };
}

void map_prefetch(const struct map *m, uint64_t hash)
{
    __builtin_prefetch(&m->slots[fold(hash) & m->mask], 1);
}

bool map_next(const struct map *m, struct map_cursor *c)
{
    if (c->record != MAP_NONE)
        c->slot = (c->slot + 1) & m->mask;
    for (;; c->slot = (c->slot + 1) & m->mask) {
        uint64_t slot = m->slots[c->slot];

        if (slot == EMPTY)
            return false;
        if ((uint32_t)(slot >> 32) == c->hash) {
            c->record = (uint32_t)slot;
            return true;
        }
    }
}

static size_t first_free(const struct map *m, uint32_t hash)
{
    size_t at = hash & m->mask;

    while (m->slots[at] != EMPTY)
        at = (at + 1) & m->mask;
    return at;
}

static void grow(struct map *m)
{
    uint64_t *old = m->slots;
    size_t old_slots = m->mask + 1;

    set_size(m, old_slots * 2);
    for (size_t i = 0; i < old_slots; i++)
        if (old[i] != EMPTY)
            m->slots[first_free(m, (uint32_t)(old[i] >> 32))] = old[i];
    arena_release(m->arena, old, old_slots * sizeof(*old));
}

void map_add(struct map *m, const struct map_cursor *c, uint32_t record)
{
    size_t slot = c->slot;

    if (m->n >= m->mask - m->mask / 4) {
        grow(m);
        slot = first_free(m, c->hash);
    }
    m->slots[slot] = (uint64_t)c->hash << 32 | record;
    m->n++;
}
