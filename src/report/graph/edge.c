/*
 * Edges are found through a hash index while samples are walked, and linked to
 * their nodes afterwards.  The lists of a node's edges are made by counting
 * sort, which compares nothing and leaves them in a fixed order.  Where few
 * nodes are left, edge_matrix.c replaces the index.
 */
#include "report/graph/edge.h"

#include "base/i64.h"

void edges_init(struct edges *e, struct arena *a)
{
    *e = (struct edges){.arena = a};
    map_init(&e->index, a, 0);
}

struct call *edges_calls(struct edges *e, size_t room)
{
    vec_reserve(e->arena, &e->calls, room + 1);
    vec_reserve(e->arena, &e->hashes, room + 1);
    vec_reserve(e->arena, &e->found, room + 1);
    return e->calls.v;
}

static bool is_edge(const struct edge *e, const struct call *c)
{
    return e->src == c->src && e->dst == c->dst;
}

static struct edge *find_or_add(struct edges *e, const struct call *call,
                                uint64_t hash)
{
    struct map_cursor c = map_find(&e->index, hash);
    struct edge *edge;

    while (map_next(&e->index, &c))
        if (is_edge(&e->all.v[c.record], call))
            return &e->all.v[c.record];
    map_add(&e->index, &c, (uint32_t)e->all.n);
    edge = vec_push(e->arena, &e->all);
    *edge = (struct edge){.src = call->src, .dst = call->dst, .inlined = true};
    return edge;
}

/*
 * Edges lie all over memory.  Fetching them for a whole sample at once, the
 * slots of the index first, then the edges, waits for memory twice a sample
 * and not twice a call.
 */
static void prefetch(struct edges *e, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct call *c = &e->calls.v[i];

        e->hashes.v[i] = map_mix(0, (uint64_t)c->src << 32 | c->dst);
        map_prefetch(&e->index, e->hashes.v[i]);
    }
    for (size_t i = 0; i < n; i++) {
        struct map_cursor c = map_find(&e->index, e->hashes.v[i]);

        e->found.v[i] = map_next(&e->index, &c) ? c.record : MAP_NONE;
        if (e->found.v[i] != MAP_NONE)
            __builtin_prefetch(&e->all.v[e->found.v[i]], 1);
    }
}

void edges_add(struct edges *e, size_t n, const struct edge_weight *w)
{
    prefetch(e, n);
    for (size_t i = 0; i < n; i++) {
        const struct call *c = &e->calls.v[i];
        uint32_t found = e->found.v[i];
        struct edge *edge;

        if (found != MAP_NONE && is_edge(&e->all.v[found], c))
            edge = &e->all.v[found];
        else
            edge = find_or_add(e, c, e->hashes.v[i]);
        if (edge->last_sample == w->sample + 1)
            continue;
        edge->last_sample = w->sample + 1;
        edge->weight = i64_add(edge->weight, w->weight);
        edge->weight_div = i64_add(edge->weight_div, w->weight_div);
        edge->residual |= c->residual;
        edge->inlined &= c->inlined;
    }
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
