/*
 * Open addressing with linear probing over 8-byte slots, as in base/map, but
 * on malloc, because running out of memory must be survived, and with the
 * records inside.
 */
#include "store/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "store/grow.h"

void table_release(struct table *t)
{
    free(t->bytes);
    free(t->ends);
    free(t->slots);
    *t = (struct table){0};
}

bool table_append(struct table *t, struct str s)
{
    if (s.n > UINT32_MAX - t->bytes_n || t->n >= UINT32_MAX - 1 ||
        !grow(&t->ends, &t->cap, t->n + 1) ||
        !grow(&t->bytes, &t->bytes_cap, t->bytes_n + s.n))
        return false;
    if (s.n)
        memcpy(t->bytes + t->bytes_n, s.s, s.n);
    t->bytes_n += s.n;
    t->ends[t->n++] = (uint32_t)t->bytes_n;
    return true;
}

/* Seeded, because the strings are untrusted. */
static uint32_t hash_of(struct str s)
{
    static const char anywhere;
    static uint64_t seed;

    if (!seed) /* the same number whoever is first */
        seed = hash_seed(&anywhere);
    return (uint32_t)(str_hash_seeded(s, seed) >> 32);
}

static void put_slot(struct table *t, uint32_t hash, uint32_t record)
{
    size_t at = hash & t->mask;

    while (t->slots[at])
        at = (at + 1) & t->mask;
    t->slots[at] = (uint64_t)hash << 32 | (record + 1);
}

static bool resize(struct table *t, size_t slots)
{
    uint64_t *old = t->slots, *fresh = calloc(slots, sizeof(*fresh));
    size_t old_slots = old ? t->mask + 1 : 0;

    if (!fresh)
        return false;
    t->slots = fresh;
    t->mask = slots - 1;
    for (size_t i = 0; i < old_slots; i++)
        if (old[i])
            put_slot(t, (uint32_t)(old[i] >> 32), (uint32_t)old[i] - 1);
    if (!old) /* records appended before there was an index */
        for (uint32_t i = 0; i < t->n; i++)
            put_slot(t, hash_of(table_get(t, i)), i);
    free(old);
    return true;
}

/* Room for one more; false only when there is no memory. */
static bool make_room(struct table *t)
{
    size_t slots = 16;

    if (t->slots && t->n < t->mask - t->mask / 4)
        return true;
    while (slots - slots / 4 <= t->n + 1)
        slots *= 2;
    return resize(t, t->slots ? (t->mask + 1) * 2 : slots);
}

static bool find(const struct table *t, uint32_t hash, struct str s,
                 uint32_t *out)
{
    for (size_t at = hash & t->mask; t->slots[at]; at = (at + 1) & t->mask) {
        uint32_t record = (uint32_t)t->slots[at] - 1;

        if ((uint32_t)(t->slots[at] >> 32) == hash &&
            str_eq(table_get(t, record), s)) {
            *out = record;
            return true;
        }
    }
    return false;
}

bool table_find(struct table *t, struct str s, uint32_t *out)
{
    return make_room(t) && find(t, hash_of(s), s, out);
}

bool table_intern(struct table *t, struct str s, uint32_t *out)
{
    uint32_t hash = hash_of(s);

    if (!make_room(t))
        return false;
    if (find(t, hash, s, out))
        return true;
    if (!table_append(t, s))
        return false;
    *out = (uint32_t)(t->n - 1);
    put_slot(t, hash, *out);
    return true;
}

size_t table_memory(const struct table *t)
{
    return t->bytes_cap + t->cap * sizeof(*t->ends) +
           (t->slots ? (t->mask + 1) * sizeof(*t->slots) : 0);
}
