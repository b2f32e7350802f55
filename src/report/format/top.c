#include "report/format/top.h"

#include "report/graph/trim.h"

static enum top_inlined inlined(const struct edges *e, uint32_t node)
{
    bool some = false, all = true;

    if (!e->in)
        return TOP_NOT_INLINED;
    for (size_t i = e->in_start[node]; i < e->in_start[node + 1]; i++) {
        const struct edge *edge = &e->all.v[e->in[i]];

        if (edge->removed)
            continue;
        some |= edge->inlined;
        all &= edge->inlined;
    }
    if (!some)
        return TOP_NOT_INLINED;
    return all ? TOP_INLINED : TOP_PARTLY_INLINED;
}

void top_make(struct top_table *t, struct report *r)
{
    struct graph g;

    graph_make(&g, r, GRAPH_INLINES, &t->counts);
    t->n = g.n_shown;
    t->rows = arena_new_array(r->arena, struct top_row, t->n);
    for (size_t i = 0; i < t->n; i++) {
        uint32_t node = g.shown[i];

        t->rows[i] = (struct top_row){
            .name = graph_name(&g, node),
            .frame = node_frame(&g.table, g.nodes.v[node].info),
            .flat = node_flat(&g.nodes.v[node]),
            .cum = node_cum(&g.nodes.v[node]),
            .inlined = inlined(&g.edges, node),
        };
    }
}
