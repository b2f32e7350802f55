#include "profile/idindex.h"

#include <string.h>

#define NOWHERE UINT32_MAX

void id_index_init(struct id_index *x, struct arena *a, size_t expected)
{
    *x = (struct id_index){.arena = a, .expected = expected};
}

static struct id_place *find_sparse(const struct id_index *x, uint64_t id,
                                    struct map_cursor *c)
{
    *c = map_find(&x->sparse, map_mix(0, id));
    while (map_next(&x->sparse, c))
        if (x->places.v[c->record].id == id)
            return &x->places.v[c->record];
    return NULL;
}

uint32_t id_index_find_slow(const struct id_index *x, uint64_t id)
{
    struct map_cursor c;
    struct id_place *found;

    if (id <= x->expected)
        return x->direct[id];
    if (!x->places.n)
        return NOWHERE;
    found = find_sparse(x, id, &c);
    return found ? found->place : NOWHERE;
}

static void make_table(struct id_index *x)
{
    x->direct = arena_new_array(x->arena, uint32_t, x->expected + 1);
    memset(x->direct, 0xff, (x->expected + 1) * sizeof(*x->direct));
    for (uint32_t i = 0; i < x->in_order; i++)
        x->direct[i + 1] = i;
}

static void add_sparse(struct id_index *x, uint64_t id, uint32_t place)
{
    struct map_cursor c;
    struct id_place *found;

    if (!x->places.n)
        map_init(&x->sparse, x->arena, 0);
    found = find_sparse(x, id, &c);
    if (found) {
        found->place = place;
        return;
    }
    map_add(&x->sparse, &c, (uint32_t)x->places.n);
    *vec_push(x->arena, &x->places) = (struct id_place){id, place};
}

void id_index_add(struct id_index *x, uint64_t id, uint32_t place)
{
    if (!x->direct && id == (uint64_t)place + 1 && place == x->in_order &&
        id <= x->expected) {
        x->in_order++;
        return;
    }
    if (!x->direct)
        make_table(x);
    if (id <= x->expected)
        x->direct[id] = place;
    else
        add_sparse(x, id, place);
}
