/*
 * The tree is kept as parent numbers: a node is found by (parent, info) in a
 * hash index.  Removed nodes are bridged by climbing to the nearest ancestor
 * that is left.
 */
#include "report/graph/graph_call_tree.h"

#include "base/i64.h"

/* The node for `info` called from `parent` (NO_NODE at the root). */
static uint32_t find_or_add(struct graph *g, uint32_t parent, uint32_t info)
{
    struct map *index = &g->tree.index;
    uint64_t hash = map_mix(0, (uint64_t)parent << 32 | info);
    struct map_cursor c = map_find(index, hash);

    while (map_next(index, &c))
        if (g->tree.parents.v[c.record] == parent &&
            g->nodes.v[c.record].info == info)
            return c.record;
    map_add(index, &c, (uint32_t)g->nodes.n);
    *vec_push(g->arena, &g->nodes) = (struct node){.info = info};
    *vec_push(g->arena, &g->tree.parents) = parent;
    *vec_push(g->arena, &g->tree.inlined) = true;
    return (uint32_t)(g->nodes.n - 1);
}

void call_tree_climb(struct graph *g, struct walk *w)
{
    uint32_t parent = NO_NODE;

    for (size_t i = 0; i < w->steps.n; i++) {
        parent = find_or_add(g, parent, w->steps.v[i].node);
        w->steps.v[i].node = parent;
    }
}

static void count_sample(struct graph *g, struct walk *w, int64_t weight,
                         int64_t div)
{
    struct node *n = NULL;

    for (size_t i = 0; i < w->steps.n; i++) {
        uint32_t node = w->steps.v[i].node;

        n = &g->nodes.v[node];
        n->cum = i64_add(n->cum, weight);
        n->cum_div = i64_add(n->cum_div, div);
        g->tree.inlined.v[node] &= w->steps.v[i].inlined;
    }
    if (n) {
        n->flat = i64_add(n->flat, weight);
        n->flat_div = i64_add(n->flat_div, div);
    }
}

void call_tree_count(struct graph *g)
{
    const struct report *r = g->report;
    struct walk w = {0};

    map_init(&g->tree.index, g->arena, 0);
    for (size_t i = 0; i < r->profile->n_samples; i++) {
        int64_t weight = report_value(r, i), div = report_divisor(r, i);

        if (weight == 0 && div == 0)
            continue;
        walk_sample(&w, &g->table, i);
        call_tree_climb(g, &w);
        count_sample(g, &w, weight, div);
    }
}

void call_tree_connect(struct graph *g)
{
    const uint32_t *parents = g->tree.parents.v;

    for (uint32_t node = 0; node < g->nodes.n; node++) {
        struct edge e = {
            .src = parents[node],
            .dst = node,
            .weight = g->nodes.v[node].cum,
            .weight_div = g->nodes.v[node].cum_div,
            .inlined = g->tree.inlined.v[node],
        };

        if (g->is_gone[node])
            continue;
        while (e.src != NO_NODE && g->is_gone[e.src]) {
            e.residual = true;
            e.inlined &= g->tree.inlined.v[e.src];
            e.src = parents[e.src];
        }
        if (e.src != NO_NODE)
            *vec_push(g->arena, &g->edges.all) = e;
    }
}

/* The edge into each node, or NO_INDEX. */
static uint32_t *edges_into(const struct graph *g)
{
    uint32_t *into = arena_new_array(g->arena, uint32_t, g->nodes.n);

    memset(into, 0xff, g->nodes.n * sizeof(*into));
    for (size_t i = 0; i < g->edges.all.n; i++)
        if (!g->edges.all.v[i].removed)
            into[g->edges.all.v[i].dst] = (uint32_t)i;
    return into;
}

static void bridge(const struct graph *g, const uint32_t *into, struct edge *e)
{
    while (g->is_gone[e->src]) {
        uint32_t up = into[e->src];

        if (up == NO_INDEX) {
            e->removed = true;
            return;
        }
        e->residual = true;
        e->inlined &= g->edges.all.v[up].inlined;
        e->src = g->edges.all.v[up].src;
    }
}

void call_tree_bridge_gaps(struct graph *g)
{
    const uint32_t *into = edges_into(g);

    /* Bridges lead over edges into nodes that are gone; those stay as they
     * are until all bridges stand. */
    for (size_t i = 0; i < g->edges.all.n; i++) {
        struct edge *e = &g->edges.all.v[i];

        if (!e->removed && !g->is_gone[e->dst])
            bridge(g, into, e);
    }
    for (size_t i = 0; i < g->edges.all.n; i++)
        if (g->is_gone[g->edges.all.v[i].dst])
            g->edges.all.v[i].removed = true;
    edges_link(&g->edges, g->nodes.n);
}
