/* The graph of calls: nodes, edges and numbers of -dot; the layout is the
 * browser's. */
#include "page/data.h"
#include "page/json_fields.h"
#include "report/format/box_name.h"
#include "report/graph/order.h"
#include "report/graph/tag_boxes.h"
#include "report/graph/trim.h"

struct maker {
    struct report *report;
    struct graph graph;
    struct json json;
    size_t *numbers;     /* of the nodes shown */
    struct arena *arena; /* for boxes of tags */
};

static void add_piece(struct buf *out, struct str piece)
{
    buf_add(out, piece);
}

/* The lines of the box, without the numbers. */
static void add_label(struct maker *m, const struct frame *f)
{
    struct buf text = arena_buf(m->report->arena);

    box_name_add(&text, m->report->arena, f, STR("\n"), add_piece);
    json_add_lines(&m->json, "lines", buf_str(&text));
    buf_release(&text);
}

static void add_tags(struct maker *m, uint32_t node)
{
    struct json *j = &m->json;
    struct tag_boxes boxes = {0};

    tag_boxes_make(&boxes, m->arena, &m->graph, node);
    json_key(j, STR("tags"));
    json_open(j, '[');
    for (size_t i = 0; i < boxes.list.n; i++) {
        const struct tag_box *b = &boxes.list.v[i];

        json_open(j, '{');
        json_add_text(j, "name", b->name);
        json_add_i64(j, "weight", b->weight);
        json_add_value_text(j, "text", m->report, b->weight);
        json_add_i64(j, "parent",
                     b->parent == NO_INDEX ? -1 : (int64_t)b->parent);
        json_add_bool(j, "dotted", b->dotted);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void add_node(struct maker *m, size_t number)
{
    struct graph *g = &m->graph;
    uint32_t node = g->shown[number];
    struct frame f = node_frame(&g->table, g->nodes.v[node].info);
    struct json *j = &m->json;

    json_open(j, '{');
    json_add_i64(j, "id", (int64_t)number);
    json_add_text(j, "name", graph_name(g, node));
    json_add_text(j, "function", f.name);
    add_label(m, &f);
    json_add_costs(j, m->report, node_flat(&g->nodes.v[node]),
                   node_cum(&g->nodes.v[node]));
    add_tags(m, node);
    json_close(j, '}');
}

static void add_edge(struct maker *m, const struct edge *e)
{
    struct json *j = &m->json;

    json_open(j, '{');
    json_add_i64(j, "from", (int64_t)m->numbers[e->src]);
    json_add_i64(j, "to", (int64_t)m->numbers[e->dst]);
    json_add_i64(j, "weight", edge_value(e));
    json_add_value_text(j, "text", m->report, edge_value(e));
    json_add_bool(j, "residual", e->residual);
    json_add_bool(j, "inline", e->inlined);
    json_close(j, '}');
}

/* Heaviest first. */
static void add_edges(struct maker *m)
{
    struct graph *g = &m->graph;
    size_t n;
    uint32_t *sorted = graph_edges_sorted(g, &n);

    for (size_t i = 0; i < n; i++)
        add_edge(m, &g->edges.all.v[sorted[i]]);
}

bool data_graph(struct report *r, struct buf *out, struct error *err)
{
    struct maker m = {
        .report = r, .json = json_start(out, 0), .arena = arena_new()};
    struct header_counts counts;

    (void)err;
    graph_make(&m.graph, r, GRAPH_PICTURE, &counts);
    m.numbers = arena_new_array(r->arena, size_t, m.graph.nodes.n);
    for (size_t i = 0; i < m.graph.n_shown; i++)
        m.numbers[m.graph.shown[i]] = i;
    json_open(&m.json, '{');
    json_add_i64(&m.json, "total", r->total);
    json_add_value_text(&m.json, "total_text", r, r->total);
    json_add_legend(&m.json, r, &counts);
    json_add_i64(&m.json, "candidates",
                 (int64_t)(counts.candidates + counts.dropped_nodes));
    json_key(&m.json, STR("nodes"));
    json_open(&m.json, '[');
    for (size_t i = 0; i < m.graph.n_shown; i++)
        add_node(&m, i);
    json_close(&m.json, ']');
    json_key(&m.json, STR("edges"));
    json_open(&m.json, '[');
    add_edges(&m);
    json_close(&m.json, ']');
    json_close(&m.json, '}');
    arena_free(m.arena);
    return true;
}
