/*
 * From the destination of each residual edge a search goes back over the other
 * edges that are left; if it reaches the source, the edge says nothing new.
 * Pictures have about a hundred nodes, so plain breadth-first searches are
 * fast enough.
 */
#include "report/graph/redundant_edges.h"

#include "report/graph/order.h"

/* A search from a node against the direction of calls. */
struct search {
    uint32_t *queue;
    uint32_t *seen; /* the number of the search that saw a node */
    uint32_t number;
};

static bool is_redundant(const struct graph *g, struct search *s, uint32_t id)
{
    const struct edges *e = &g->edges;
    const struct edge *edge = &e->all.v[id];
    size_t n = 0;

    s->number++;
    s->seen[edge->dst] = s->number;
    s->queue[n++] = edge->dst;
    for (size_t at = 0; at < n; at++) {
        uint32_t node = s->queue[at];

        for (size_t i = e->in_start[node]; i < e->in_start[node + 1]; i++) {
            const struct edge *in = &e->all.v[e->in[i]];

            if (in->removed || in == edge || s->seen[in->src] == s->number)
                continue;
            if (in->src == edge->src)
                return true;
            s->seen[in->src] = s->number;
            s->queue[n++] = in->src;
        }
    }
    return false;
}

static bool has_residual(const struct edges *e, uint32_t node)
{
    for (size_t i = e->in_start[node]; i < e->in_start[node + 1]; i++) {
        const struct edge *edge = &e->all.v[e->in[i]];

        if (!edge->removed && edge->residual)
            return true;
    }
    return false;
}

void drop_redundant_edges(struct graph *g)
{
    struct edges *e = &g->edges;
    struct search s = {
        .queue = arena_new_array(g->arena, uint32_t, g->nodes.n),
        .seen = arena_new_array(g->arena, uint32_t, g->nodes.n),
    };

    for (size_t i = g->n_shown; i-- > 0;) {
        uint32_t node = g->shown[i];
        size_t n = 0;
        uint32_t *in;

        if (!has_residual(e, node))
            continue;
        in = edges_sorted(g, e->in + e->in_start[node],
                          e->in_start[node + 1] - e->in_start[node], &n);
        while (n-- > 0 && e->all.v[in[n]].residual)
            if (is_redundant(g, &s, in[n]))
                e->all.v[in[n]].removed = true;
    }
}
