/*
 * Costs of nodes do not change when other nodes are taken out: a sample's
 * cost stays with every node on its way, and nobody inherits the flat cost
 * of a leaf that is gone.  So the choice of nodes needs one walk over the
 * samples, and edges are made only between those that are left.  Pictures
 * are the exception: their order and their choice depend on edges and tags.
 */
#include "report/graph/trim.h"

#include "base/i64.h"
#include "base/number.h"
#include "report/graph/graph_call_tree.h"
#include "report/graph/graph_unit.h"
#include "report/graph/inlined_edges.h"
#include "report/graph/order.h"
#include "report/graph/redundant_edges.h"

#define TAGS_SHOWN 4 /* that a node of a picture shows at most */

struct cuts {
    int64_t node, edge;
};

static struct cuts cuts_of(const struct graph *g)
{
    const struct report_config *c = &g->report->config;
    int64_t total = 0;

    for (size_t i = 0; i < g->n_shown; i++)
        total = i64_add(total, g->nodes.v[g->shown[i]].flat);
    return (struct cuts){
        .node = i64_abs(number_trunc((double)total * c->nodefraction)),
        .edge = i64_abs(number_trunc((double)total * c->edgefraction)),
    };
}

/* Removes light nodes; returns how many. */
static size_t drop_light_nodes(struct graph *g, int64_t cut)
{
    bool *kept = arena_new_array(g->arena, bool, g->nodes.n);
    size_t before = g->n_shown, left = 0;

    for (size_t i = 0; i < g->n_shown; i++) {
        uint32_t node = g->shown[i];

        kept[node] = i64_abs(g->nodes.v[node].cum) >= cut;
        left += kept[node];
    }
    if (left != before)
        graph_keep(g, kept);
    return before - left;
}

/* Keeps the first n of the shown nodes. */
static void keep_first(struct graph *g, size_t n)
{
    bool *kept = arena_new_array(g->arena, bool, g->nodes.n);

    for (size_t i = 0; i < n; i++)
        kept[g->shown[i]] = true;
    graph_keep(g, kept);
}

/* Only edges into shown nodes are considered; returns how many were removed. */
static size_t drop_light_edges(struct graph *g, int64_t cut)
{
    size_t dropped = 0;

    for (size_t i = 0; i < g->edges.all.n; i++) {
        struct edge *e = &g->edges.all.v[i];

        if (e->removed || !g->is_shown[e->dst] || i64_abs(e->weight) >= cut)
            continue;
        e->removed = true;
        dropped++;
    }
    return dropped;
}

static void drop_light_tags(struct graph *g, int64_t cut)
{
    for (size_t i = 0; i < g->tags.all.n; i++) {
        struct tag *t = &g->tags.all.v[i];

        if (g->is_shown[t->node] && i64_abs(t->flat) < cut &&
            i64_abs(t->cum) < cut)
            t->removed = true;
    }
}

static enum node_order order_of(const struct graph *g)
{
    return str_eq(g->report->config.sort, STR("cum")) ? ORDER_CUM : ORDER_FLAT;
}

/* The nodes into which an edge that is inlined may be left.  All others are not
 * inlined, whatever their edges are. */
static bool *may_be_inlined(const struct graph *g, int64_t cut, bool *any)
{
    bool *may = arena_new_array(g->arena, bool, g->nodes.n);

    *any = false;
    for (size_t i = 0; i < g->n_shown; i++) {
        uint32_t node = g->shown[i];

        may[node] = g->inlined[node] > 0 && g->inlined[node] >= cut;
        *any |= may[node];
    }
    return may;
}

static bool *matching(struct graph *g, const struct regex *re)
{
    bool *match = arena_new_array(g->arena, bool, g->nodes.n);

    for (size_t i = 0; i < g->n_shown; i++)
        match[g->shown[i]] = regex_matches(re, graph_name(g, g->shown[i]));
    return match;
}

static void connect(struct graph *g, enum graph_detail detail, int64_t cut)
{
    struct graph_wanted wanted = {0};
    bool any = true;

    if (detail == GRAPH_NODES)
        return;
    if (detail == GRAPH_INLINES)
        wanted.into = may_be_inlined(g, cut, &any);
    if (detail == GRAPH_MATCHED)
        wanted.into = wanted.out_of = matching(g, g->report->argument);
    if (!any)
        return;
    if (detail == GRAPH_INLINES && inlined_edges_connect(g, wanted.into, cut))
        return;
    graph_connect(g, &wanted);
}

static void make_table(struct graph *g, enum graph_detail detail,
                       struct cuts cuts)
{
    int nodecount = g->report->config.nodecount;

    graph_sort(g, order_of(g));
    if (nodecount > 0 && (size_t)nodecount < g->n_shown)
        keep_first(g, (size_t)nodecount);
    connect(g, detail, cuts.edge);
    drop_light_edges(g, cuts.edge);
}

/* How many tags the node would show. */
static size_t count_tags(const struct graph *g, uint32_t node)
{
    const struct node_tags *t = &g->tags;
    size_t n = 0;

    for (size_t i = t->start[node]; i < t->start[node + 1]; i++) {
        const struct tag *tag = &t->all.v[t->of_node[i]];

        n += !tag->removed && tag->flat != 0;
    }
    return n < TAGS_SHOWN ? n : TAGS_SHOWN;
}

/* How many nodes fit into a picture of nodecount boxes. */
static size_t nodes_that_fit(const struct graph *g, size_t nodecount)
{
    size_t boxes = 0;

    for (size_t i = 0; i < g->n_shown; i++) {
        boxes += 1 + count_tags(g, g->shown[i]);
        if (boxes >= nodecount)
            return i + 1;
    }
    return nodecount < g->n_shown ? nodecount : g->n_shown;
}

static size_t make_picture(struct graph *g, struct cuts cuts)
{
    const struct graph_wanted all = {0};
    int nodecount = g->report->config.nodecount;
    size_t dropped_edges, fit;

    graph_connect(g, &all);
    graph_tag(g);
    graph_sort(g, ORDER_SCORE);
    if (nodecount > 0) {
        drop_light_tags(g, cuts.node);
        drop_light_edges(g, cuts.edge);
        fit = nodes_that_fit(g, (size_t)nodecount);
        if (fit < g->n_shown) {
            keep_first(g, fit);
            if (g->is_tree)
                call_tree_bridge_gaps(g);
            else
                graph_connect(g, &all);
            graph_sort(g, ORDER_SCORE);
        }
    }
    drop_light_tags(g, cuts.node);
    dropped_edges = drop_light_edges(g, cuts.edge);
    drop_redundant_edges(g);
    return dropped_edges;
}

void graph_make(struct graph *g, struct report *r, enum graph_detail detail,
                struct header_counts *counts)
{
    struct cuts cuts;

    *counts = (struct header_counts){0};
    graph_init(g, r);
    cuts = cuts_of(g);
    if (cuts.node > 0)
        counts->dropped_nodes = drop_light_nodes(g, cuts.node);
    counts->candidates = g->n_shown;
    if (detail == GRAPH_PICTURE)
        counts->dropped_edges = make_picture(g, cuts);
    else
        make_table(g, detail, cuts);
    counts->shown = g->n_shown;
    for (size_t i = 0; i < g->n_shown; i++)
        counts->flat_sum =
            i64_add(counts->flat_sum, node_flat(&g->nodes.v[g->shown[i]]));
    report_choose_unit(r, g);
}
