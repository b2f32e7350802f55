/* -tree and -peek: every node with its callers above and its callees below. */
#include "base/i64.h"
#include "report/graph/order.h"
#include "report/graph/trim.h"

#define VALUE_WIDTH  10
#define WEIGHT_WIDTH 50

static const struct str separator =
    STR_INIT("----------------------------------------------------------+"
             "-------------\n");
static const struct str legend =
    STR_INIT("      flat  flat%   sum%        cum   cum%   calls calls% + "
             "context \t \t \n");

/* The edges of one node; `outward` prints destinations.  Weights are not
 * divided by -mean, as in the original. */
static void add_edges(struct graph *g, uint32_t node, bool outward,
                      struct buf *out)
{
    const struct edges *e = &g->edges;
    const size_t *start = outward ? e->out_start : e->in_start;
    const uint32_t *ids = (outward ? e->out : e->in) + start[node];
    int64_t cum = node_cum(&g->nodes.v[node]);
    size_t n;

    ids = edges_sorted(g, ids, start[node + 1] - start[node], &n);
    for (size_t i = 0; i < n; i++) {
        const struct edge *edge = &e->all.v[ids[i]];

        report_add_value_right(g->report, out, edge->weight, WEIGHT_WIDTH);
        buf_add_char(out, ' ');
        measure_percentage(out, edge->weight, cum);
        buf_add(out, STR(" |   "));
        buf_add(out, graph_name(g, outward ? edge->dst : edge->src));
        if (edge->inlined)
            buf_add(out, STR(" (inline)"));
        buf_add_char(out, '\n');
    }
}

static void add_node(struct graph *g, uint32_t node, int64_t flat_sum,
                     struct buf *out)
{
    const struct report *r = g->report;
    int64_t flat = node_flat(&g->nodes.v[node]);
    int64_t cum = node_cum(&g->nodes.v[node]);

    report_add_value_right(r, out, flat, VALUE_WIDTH);
    buf_add_char(out, ' ');
    report_add_percent(r, out, flat);
    buf_add_char(out, ' ');
    report_add_percent(r, out, flat_sum);
    buf_add_char(out, ' ');
    report_add_value_right(r, out, cum, VALUE_WIDTH);
    buf_add_char(out, ' ');
    report_add_percent(r, out, cum);
    buf_add_pad(out, ' ', 16);
    buf_add(out, STR("| "));
    buf_add(out, graph_name(g, node));
    buf_add_char(out, '\n');
}

static void add_header(const struct report *r,
                       const struct header_counts *counts, struct buf *out)
{
    struct header_lines h = {0};

    if (!r->config.compact_labels)
        header_add_profile(&h, r);
    header_add_graph(&h, r, counts);
    header_print(&h, out);
    buf_add(out, separator);
    buf_add(out, legend);
}

bool format_tree(struct report *r, struct buf *out, struct error *err)
{
    struct header_counts counts;
    struct graph g;
    int64_t flat_sum = 0;
    bool matched = false;

    graph_make(&g, r, r->argument ? GRAPH_MATCHED : GRAPH_EDGES, &counts);
    add_header(r, &counts, out);
    for (size_t i = 0; i < g.n_shown; i++) {
        uint32_t node = g.shown[i];

        if (r->argument && !regex_matches(r->argument, graph_name(&g, node)))
            continue;
        matched = true;
        flat_sum = i64_add(flat_sum, node_flat(&g.nodes.v[node]));
        buf_add(out, separator);
        add_edges(&g, node, false, out);
        add_node(&g, node, flat_sum, out);
        add_edges(&g, node, true, out);
    }
    if (r->argument && !matched)
        return error_set(err, "no matches found for regexp: %" STR_FMT,
                         STR_ARG(regex_pattern(r->argument)));
    if (g.n_shown > 0)
        buf_add(out, separator);
    return true;
}
