/*
 * -dot: the graph as text for Graphviz's dot, from which come the pictures.
 */
#include <math.h>

#include "base/i64.h"
#include "report/format/box_name.h"
#include "report/format/dot_color.h"
#include "report/format/dot_tags.h"
#include "report/graph/order.h"
#include "report/graph/trim.h"

#define SMALLEST_FONT 8
#define FONT_GROWTH   16.0

struct dot {
    struct graph graph;
    const struct report *report;
    struct buf *out;
    int64_t largest_flat;
    size_t *numbers; /* of the nodes in the picture, from 1 */
    bool *has_tags;
};

static void add_escaped(struct buf *out, struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.s[i] == '\n')
            buf_add(out, STR("\\l"));
        else if (s.s[i] == '\\' || s.s[i] == '"')
            buf_addf(out, "\\%c", s.s[i]);
        else
            buf_add_char(out, s.s[i]);
    }
}

static void add_legend(struct dot *d, const struct header_counts *counts)
{
    const struct report *r = d->report;
    struct header_lines h = {0};

    header_add_profile(&h, r);
    header_add_graph(&h, r, counts);
    *vec_push(r->arena, &h.lines) =
        STR("\nSee https://git.io/JfYMW for how to read the graph");
    buf_add(d->out, STR("subgraph cluster_L { \""));
    add_escaped(d->out, h.lines.v[0]);
    buf_add(d->out, STR("\" [shape=box fontsize=16 label=\""));
    for (size_t i = 0; i < h.lines.n; i++) {
        add_escaped(d->out, h.lines.v[i]);
        buf_add(d->out, STR("\\l"));
    }
    buf_add_char(d->out, '"');
    if (r->title.n) {
        buf_add(d->out, STR(" tooltip=\""));
        buf_add(d->out, r->title);
        buf_add_char(d->out, '"');
    }
    buf_add(d->out, STR("] }\n"));
}

static void add_label_name(struct dot *d, uint32_t node)
{
    struct graph *g = &d->graph;
    struct frame f = node_frame(&g->table, g->nodes.v[node].info);

    box_name_add(d->out, g->arena, &f, STR("\\n"), add_escaped);
}

static void add_share(struct dot *d, int64_t value)
{
    struct buf share = BUF_INIT(128);

    report_add_value(d->report, d->out, value);
    buf_add(d->out, STR(" ("));
    measure_percentage(&share, value, d->report->total);
    buf_add(d->out, str_trim(buf_str(&share)));
    buf_add_char(d->out, ')');
    buf_release(&share);
}

static void add_label_values(struct dot *d, int64_t flat, int64_t cum)
{
    if (flat != 0)
        add_share(d, flat);
    else
        buf_add_char(d->out, '0');
    if (cum == flat)
        return;
    buf_add(d->out, flat != 0 ? STR("\\n") : STR(" "));
    buf_add(d->out, STR("of "));
    add_share(d, cum);
}

/* Square root growth, so that small nodes stay readable. */
static int font_size(const struct dot *d, int64_t flat)
{
    double size = (double)i64_abs(flat), largest = (double)d->largest_flat;

    if (largest == 0 || flat == 0 || size > largest)
        return SMALLEST_FONT;
    return SMALLEST_FONT + (int)ceil(FONT_GROWTH * sqrt(size / largest));
}

static double share_of_total(const struct dot *d, int64_t value)
{
    return (double)value / (double)i64_abs(d->report->total);
}

static void add_node(struct dot *d, uint32_t node)
{
    struct graph *g = &d->graph;
    int64_t flat = node_flat(&g->nodes.v[node]);
    int64_t cum = node_cum(&g->nodes.v[node]);
    size_t number = d->numbers[node];

    buf_addf(d->out, "N%zu [label=\"", number);
    add_label_name(d, node);
    add_label_values(d, flat, cum);
    buf_addf(d->out, "\" id=\"node%zu\" fontsize=%d shape=box tooltip=\"",
             number, font_size(d, flat));
    add_escaped(d->out, graph_name(g, node));
    buf_add(d->out, STR(" ("));
    report_add_value(d->report, d->out, cum);
    buf_addf(d->out, ")\" color=\"%s\" fillcolor=\"%s\"]\n",
             dot_color(share_of_total(d, cum), false).text,
             dot_color(share_of_total(d, cum), true).text);
}

/* 1 + the edge's share in steps, at most `steps`. */
static int64_t thickness(const struct dot *d, int64_t value, int64_t steps)
{
    int64_t n = i64_abs(i64_div(i64_mul(value, steps), d->report->total));

    return 1 + (n < steps ? n : steps);
}

static void add_edge_style(struct dot *d, int64_t value)
{
    int64_t weight, width;

    if (d->report->total == 0)
        return;
    weight = thickness(d, value, 100);
    width = thickness(d, value, 5);
    if (weight > 1)
        buf_addf(d->out, " weight=%lld", (long long)weight);
    if (width > 1)
        buf_addf(d->out, " penwidth=%lld", (long long)width);
    buf_addf(d->out, " color=\"%s\"",
             dot_color(share_of_total(d, value), false).text);
}

static void add_edge_tooltip(struct dot *d, const struct edge *e,
                             const char *attribute)
{
    buf_addf(d->out, " %s=\"", attribute);
    add_escaped(d->out, graph_name(&d->graph, e->src));
    buf_addf(d->out, " %s ", e->residual ? "..." : "->");
    add_escaped(d->out, graph_name(&d->graph, e->dst));
    buf_add(d->out, STR(" ("));
    report_add_value(d->report, d->out, edge_value(e));
    buf_add(d->out, STR(")\""));
}

static void add_edge(struct dot *d, const struct edge *e)
{
    buf_addf(d->out, "N%zu -> N%zu [label=\" ", d->numbers[e->src],
             d->numbers[e->dst]);
    report_add_value(d->report, d->out, edge_value(e));
    if (e->inlined)
        buf_add(d->out, STR("\\n (inline)"));
    buf_add_char(d->out, '"');
    add_edge_style(d, edge_value(e));
    add_edge_tooltip(d, e, "tooltip");
    add_edge_tooltip(d, e, "labeltooltip");
    if (e->residual)
        buf_add(d->out, STR(" style=\"dotted\""));
    if (d->has_tags[e->src])
        buf_add(d->out, STR(" minlen=2"));
    buf_add(d->out, STR("]\n"));
}

static void add_nodes(struct dot *d)
{
    struct graph *g = &d->graph;

    for (size_t i = 0; i < g->n_shown; i++) {
        int64_t flat = i64_abs(node_flat(&g->nodes.v[g->shown[i]]));

        d->numbers[g->shown[i]] = i + 1;
        if (i == 0 || flat > d->largest_flat)
            d->largest_flat = flat;
    }
    for (size_t i = 0; i < g->n_shown; i++) {
        uint32_t node = g->shown[i];
        size_t before;

        add_node(d, node);
        before = d->out->len;
        dot_add_tags(g, node, d->numbers[node], d->out);
        d->has_tags[node] = d->out->len > before;
    }
}

/* Heaviest first, as a hint to the layout. */
static void add_edges(struct dot *d)
{
    struct graph *g = &d->graph;
    size_t n;
    uint32_t *sorted = graph_edges_sorted(g, &n);

    for (size_t i = 0; i < n; i++)
        add_edge(d, &g->edges.all.v[sorted[i]]);
}

bool format_dot(struct report *r, struct buf *out, struct error *err)
{
    struct dot d = {.report = r, .out = out};
    struct header_counts counts;

    (void)err;
    graph_make(&d.graph, r, GRAPH_PICTURE, &counts);
    d.numbers = arena_new_array(r->arena, size_t, d.graph.nodes.n);
    d.has_tags = arena_new_array(r->arena, bool, d.graph.nodes.n);
    buf_add(out, STR("digraph \""));
    buf_add(out, r->title.n ? r->title : STR("unnamed"));
    buf_add(out, STR("\" {\nnode [style=filled fillcolor=\"#f8f8f8\"]\n"));
    add_legend(&d, &counts);
    add_nodes(&d);
    add_edges(&d);
    buf_add(out, STR("}\n"));
    return true;
}
