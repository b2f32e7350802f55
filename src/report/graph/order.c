/*
 * google/pprof sorts by several keys and leaves the rest to chance, because
 * its nodes come from a map.  All its keys are kept here, and the number of
 * the node decides at the end, so that a profile gives the same bytes every
 * time.
 */
#include "report/graph/order.h"

#include <math.h>
#include <stdlib.h>

#include "base/i64.h"
#include "base/number.h"

/* Larger absolute values first. */
static int compare_abs(int64_t a, int64_t b)
{
    a = i64_abs(a);
    b = i64_abs(b);
    return (a < b) - (a > b);
}

/* log2 by way of the fraction, as Go computes it. */
static double log2_of(double x)
{
    int exponent;
    double fraction = frexp(x, &exponent);

    if (fraction == 0.5)
        return exponent - 1;
    return log(fraction) * (1 / M_LN2) + exponent;
}

static double entropy_of(double part, double total)
{
    double share = part / total;

    return -share * log2_of(share);
}

/* Only edges of positive weight count for the total, but all of them for the
 * sum; an edge of weight zero makes it NaN.  Both are the original's. */
static double entropy(const struct edges *e, const uint32_t *ids, size_t n,
                      int64_t self)
{
    int64_t total = self;
    double score = 0;

    for (size_t i = 0; i < n; i++) {
        const struct edge *edge = &e->all.v[ids[i]];

        if (!edge->removed && edge->weight > 0)
            total = i64_add(total, edge->weight);
    }
    if (total == 0)
        return 0;
    for (size_t i = 0; i < n; i++) {
        const struct edge *edge = &e->all.v[ids[i]];

        if (!edge->removed)
            score += entropy_of((double)i64_abs(edge->weight), (double)total);
    }
    if (self > 0)
        score += entropy_of((double)self, (double)total);
    return score;
}

static bool has_edge(const struct edges *e, const uint32_t *ids, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!e->all.v[ids[i]].removed)
            return true;
    return false;
}

static double side_score(const struct edges *e, const uint32_t *ids, size_t n,
                         int64_t self)
{
    return has_edge(e, ids, n) ? entropy(e, ids, n, self) : 1;
}

int64_t node_score(const struct graph *g, uint32_t node)
{
    const struct edges *e = &g->edges;
    const struct node *n = &g->nodes.v[node];
    size_t in = e->in_start[node], out = e->out_start[node];
    double score = 0;

    score += side_score(e, e->in + in, e->in_start[node + 1] - in, 0);
    score += side_score(e, e->out + out, e->out_start[node + 1] - out, n->flat);
    return i64_add(number_trunc(score * (double)n->cum), n->flat);
}

/* A node that is being sorted. */
struct ranked {
    int64_t first; /* what counts before the name */
    uint32_t node;
};

struct ranking {
    struct graph *graph;
    enum node_order order;
};

/* Nodes that print alike: all fields, compared as the text that Go makes of
 * them. */
static int compare_infos(const struct graph *g, uint32_t a, uint32_t b)
{
    struct buf text[2] = {arena_buf(g->arena), arena_buf(g->arena)};
    const uint32_t nodes[2] = {a, b};
    int c;

    for (int i = 0; i < 2; i++) {
        struct frame f = node_frame(&g->table, g->nodes.v[nodes[i]].info);

        buf_addf(&text[i], "{%" STR_FMT "  %llu %" STR_FMT " %lld %lld %lld ",
                 STR_ARG(f.name), (unsigned long long)f.address,
                 STR_ARG(f.file), (long long)f.start_line, (long long)f.line,
                 (long long)f.column);
        buf_add(&text[i], f.object);
        buf_add_char(&text[i], '}');
    }
    c = str_cmp(buf_str(&text[0]), buf_str(&text[1]));
    buf_release(&text[1]);
    buf_release(&text[0]);
    return c;
}

static int compare_ranked(const void *pa, const void *pb, void *arg)
{
    const struct ranked *a = pa, *b = pb;
    struct ranking *ranking = arg;
    struct graph *g = ranking->graph;
    const struct node *na = &g->nodes.v[a->node], *nb = &g->nodes.v[b->node];
    int c = compare_abs(a->first, b->first);

    if (c == 0 && na->info != nb->info)
        c = str_cmp(graph_name(g, a->node), graph_name(g, b->node));
    if (c == 0)
        c = ranking->order == ORDER_FLAT ? compare_abs(na->cum, nb->cum)
                                         : compare_abs(na->flat, nb->flat);
    if (c == 0 && na->info != nb->info)
        c = compare_infos(g, a->node, b->node);
    return c ? c : (a->node > b->node) - (a->node < b->node);
}

static int64_t first_key(const struct graph *g, enum node_order order,
                         uint32_t node)
{
    switch (order) {
    case ORDER_FLAT:
        return g->nodes.v[node].flat;
    case ORDER_CUM:
        return g->nodes.v[node].cum;
    case ORDER_SCORE:
        break;
    }
    return node_score(g, node);
}

void graph_sort(struct graph *g, enum node_order order)
{
    struct ranked *r = arena_new_array(g->arena, struct ranked, g->n_shown);
    struct ranking ranking = {g, order};

    for (size_t i = 0; i < g->n_shown; i++) {
        r[i].node = g->shown[i];
        r[i].first = first_key(g, order, g->shown[i]);
    }
    qsort_r(r, g->n_shown, sizeof(*r), compare_ranked, &ranking);
    for (size_t i = 0; i < g->n_shown; i++)
        g->shown[i] = r[i].node;
    arena_release(g->arena, r, g->n_shown * sizeof(*r));
}

static int compare_names(struct graph *g, uint32_t a, uint32_t b)
{
    return a == b ? 0 : str_cmp(graph_name(g, a), graph_name(g, b));
}

static int compare_edges(const void *pa, const void *pb, void *arg)
{
    struct graph *g = arg;
    const struct edge *a = &g->edges.all.v[*(const uint32_t *)pa];
    const struct edge *b = &g->edges.all.v[*(const uint32_t *)pb];
    int c = compare_abs(a->weight, b->weight);

    if (c == 0) /* +w before -w */
        c = (a->weight < b->weight) - (a->weight > b->weight);
    if (c == 0)
        c = compare_names(g, a->src, b->src);
    if (c == 0)
        c = compare_names(g, a->dst, b->dst);
    if (c == 0)
        c = (a->src > b->src) - (a->src < b->src);
    return c ? c : (a->dst > b->dst) - (a->dst < b->dst);
}

uint32_t *edges_sorted(struct graph *g, const uint32_t *ids, size_t n,
                       size_t *n_out)
{
    uint32_t *sorted = arena_new_array(g->arena, uint32_t, n);
    size_t left = 0;

    for (size_t i = 0; i < n; i++)
        if (!g->edges.all.v[ids[i]].removed)
            sorted[left++] = ids[i];
    qsort_r(sorted, left, sizeof(*sorted), compare_edges, g);
    *n_out = left;
    return sorted;
}

uint32_t *graph_edges_sorted(struct graph *g, size_t *n_out)
{
    const struct edges *e = &g->edges;
    VEC(uint32_t) ids = {0};

    for (size_t i = 0; i < g->n_shown; i++) {
        uint32_t node = g->shown[i];

        for (size_t k = e->out_start[node]; k < e->out_start[node + 1]; k++)
            *vec_push(g->arena, &ids) = e->out[k];
    }
    return edges_sorted(g, ids.v, ids.n, n_out);
}
