#include "report/edge.h"

#include "base/i64.h"

void edges_init(struct edges *e, struct arena *a)
{
    *e = (struct edges){.arena = a};
    map_init(&e->index, a, 0);
}

static struct edge *find_or_add(struct edges *e, struct call call)
{
    uint64_t hash = map_mix(0, (uint64_t)call.src << 32 | call.dst);
    struct map_cursor c = map_find(&e->index, hash);
    struct edge *edge;

    while (map_next(&e->index, &c)) {
        edge = &e->all.v[c.record];
        if (edge->src == call.src && edge->dst == call.dst)
            return edge;
    }
    map_add(&e->index, &c, (uint32_t)e->all.n);
    edge = vec_push(e->arena, &e->all);
    *edge = (struct edge){.src = call.src, .dst = call.dst, .inlined = true};
    return edge;
}

void edges_add(struct edges *e, struct call call, uint32_t sample,
               int64_t weight, int64_t weight_div)
{
    struct edge *edge = find_or_add(e, call);

    if (edge->last_sample == sample + 1)
        return;
    edge->last_sample = sample + 1;
    edge->weight = i64_add(edge->weight, weight);
    edge->weight_div = i64_add(edge->weight_div, weight_div);
    edge->residual |= call.residual;
    edge->inlined &= call.inlined;
}

/* Turns counts[n] into the starts of n's elements. */
static void counts_to_starts(size_t *counts, size_t n)
{
    size_t sum = 0;

    for (size_t i = 0; i <= n; i++) {
        size_t count = counts[i];

        counts[i] = sum;
        sum += count;
    }
}

/*
 * Puts the edges, taken in the order of `from` (NULL: as they were added),
 * to the end of the list of their source or destination.
 */
static void distribute(struct edges *e, const uint32_t *from, bool by_src,
                       uint32_t *to, const size_t *start, size_t *fill,
                       size_t n_nodes)
{
    memcpy(fill, start, n_nodes * sizeof(*fill));
    for (size_t i = 0; i < e->all.n; i++) {
        uint32_t id = from ? from[i] : (uint32_t)i;
        const struct edge *edge = &e->all.v[id];

        to[fill[by_src ? edge->src : edge->dst]++] = id;
    }
}

/* Distributing in turn sorts: the list of all edges by source, distributed
 * by destination, makes `in` sorted by source; that makes `out` sorted. */
void edges_link(struct edges *e, size_t n_nodes)
{
    size_t n = e->all.n;
    size_t *fill = arena_new_array(e->arena, size_t, n_nodes);

    e->in = arena_new_array(e->arena, uint32_t, n);
    e->out = arena_new_array(e->arena, uint32_t, n);
    e->in_start = arena_new_array(e->arena, size_t, n_nodes + 1);
    e->out_start = arena_new_array(e->arena, size_t, n_nodes + 1);
    for (size_t i = 0; i < n; i++) {
        e->in_start[e->all.v[i].dst]++;
        e->out_start[e->all.v[i].src]++;
    }
    counts_to_starts(e->in_start, n_nodes);
    counts_to_starts(e->out_start, n_nodes);
    distribute(e, NULL, true, e->out, e->out_start, fill, n_nodes);
    distribute(e, e->out, false, e->in, e->in_start, fill, n_nodes);
    distribute(e, e->in, true, e->out, e->out_start, fill, n_nodes);
    arena_release(e->arena, fill, n_nodes * sizeof(*fill));
}

int64_t edge_value(const struct edge *e)
{
    return e->weight_div ? i64_div(e->weight, e->weight_div) : e->weight;
}
