#include "profile/idindex.h"

#include <string.h>

#include "base/hash.h"

#define NOWHERE UINT32_MAX

void id_index_init(struct id_index *x, struct arena *a, size_t expected)
{
    *x = (struct id_index){
        .arena = a, .expected = expected, .seed = hash_seed(x)};
}

static size_t home_of(const struct id_index *x, uint64_t id)
{
    return (size_t)hash_mix(hash_mix(id ^ x->seed) ^ x->seed) &
           (x->n_slots - 1);
}

/* The slot of an id, or the free one where it belongs. */
static struct id_slot *slot_of(const struct id_index *x, uint64_t id)
{
    size_t mask = x->n_slots - 1, at = home_of(x, id);

    while (x->slots[at].place != NOWHERE && x->slots[at].id != id)
        at = (at + 1) & mask;
    return &x->slots[at];
}

uint32_t id_index_find_sparse(const struct id_index *x, uint64_t id)
{
    return x->n_slots ? slot_of(x, id)->place : NOWHERE;
}

void id_index_prefetch(const struct id_index *x, uint64_t id)
{
    if (x->n_slots)
        __builtin_prefetch(&x->slots[home_of(x, id)]);
}

static void make_table(struct id_index *x)
{
    x->direct = arena_new_array(x->arena, uint32_t, x->expected + 1);
    memset(x->direct, 0xff, (x->expected + 1) * sizeof(*x->direct));
    for (uint32_t i = 0; i < x->in_order; i++)
        x->direct[i + 1] = i;
}

static void set_slots(struct id_index *x, size_t n)
{
    x->slots = arena_new_array(x->arena, struct id_slot, n);
    x->n_slots = n;
    for (size_t i = 0; i < n; i++)
        x->slots[i].place = NOWHERE;
}

/* At most half of the slots are taken. */
static void make_room(struct id_index *x)
{
    struct id_slot *old = x->slots;
    size_t n = x->n_slots;

    if (2 * x->n_sparse < n)
        return;
    set_slots(x, n ? 2 * n : 64);
    for (size_t i = 0; i < n; i++)
        if (old[i].place != NOWHERE)
            *slot_of(x, old[i].id) = old[i];
    arena_release(x->arena, old, n * sizeof(*old));
}

static void add_sparse(struct id_index *x, uint64_t id, uint32_t place)
{
    struct id_slot *slot;

    make_room(x);
    slot = slot_of(x, id);
    x->n_sparse += slot->place == NOWHERE;
    *slot = (struct id_slot){id, place};
}

void id_index_add_elsewhere(struct id_index *x, uint64_t id, uint32_t place)
{
    if (!x->direct)
        make_table(x);
    if (id <= x->expected)
        x->direct[id] = place;
    else
        add_sparse(x, id, place);
}
