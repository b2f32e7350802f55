/*
 * Samples are walked from the root to the leaf.  Nodes are integers by then
 * (node.h), and "once for each sample" is a stamp: the number of the last
 * sample that touched a node or an edge.
 */
#include "report/graph/graph.h"

#include <assert.h>

#include "base/i64.h"
#include "report/graph/edge_matrix.h"
#include "report/graph/graph_call_tree.h"
#include "report/graph/sample_walk.h"

/* What a node's cost needs in the hot loop, close together. */
struct cost {
    int64_t cum;
    uint32_t last_sample;
};

/* The first walk over the samples. */
struct counting {
    struct graph *graph;
    struct cost *costs;
    int64_t weight, div; /* of the sample */
    uint32_t stamp;      /* its number + 1 */
};

static void add_to_node(const struct counting *c, uint32_t node)
{
    struct cost *cost = &c->costs[node];
    int64_t *div = &c->graph->nodes.v[node].cum_div;

    if (cost->last_sample == c->stamp)
        return;
    cost->last_sample = c->stamp;
    cost->cum = i64_add(cost->cum, c->weight);
    if (c->div)
        *div = i64_add(*div, c->div);
}

static void add_inlined(struct graph *g, uint32_t node, int64_t weight)
{
    int64_t *sum = &g->inlined[node];

    if (__builtin_add_overflow(*sum, i64_abs(weight), sum))
        *sum = INT64_MAX;
}

static void add_location(const struct counting *c, uint32_t location)
{
    struct node_span span = node_table_at(&c->graph->table, location);

    for (size_t k = 0; k < span.n; k++) {
        add_to_node(c, span.ids[k]);
        if (k > 0)
            add_inlined(c->graph, span.ids[k], c->weight);
    }
}

/*
 * Adds a sample's frames.  One node a location and no divisor is the case
 * that counts: 23 million frames of a large profile.  Its tables do not fit
 * into the processor's second cache, but what is needed is known long before,
 * since stacks lie one behind the other: `ahead` frames can be read behind
 * these.
 */
static void add_frames(const struct counting *c, const uint32_t *frames,
                       size_t n, size_t ahead)
{
    const uint32_t *nodes = c->graph->table.of_location;
    struct cost *costs = c->costs;
    uint32_t stamp = c->stamp;
    int64_t weight = c->weight;

    for (size_t i = 0; i < n; i++) {
        uint32_t node = nodes[frames[i]];

        __builtin_prefetch(&nodes[frames[i + ahead]]);
        if (__builtin_expect(node & NODE_LIST || c->div, 0)) {
            add_location(c, frames[i]);
        } else if (costs[node].last_sample != stamp) {
            costs[node].last_sample = stamp;
            costs[node].cum = i64_add(costs[node].cum, weight);
        }
    }
}

static void add_to_leaf(const struct counting *c, uint32_t location)
{
    struct node_span span = node_table_at(&c->graph->table, location);
    struct node *n = &c->graph->nodes.v[span.ids[span.n - 1]];

    n->flat = i64_add(n->flat, c->weight);
    n->flat_div = i64_add(n->flat_div, c->div);
}

enum { LOOK_AHEAD = 32 };

static void count_sample(struct counting *c, size_t sample)
{
    const struct report *r = c->graph->report;
    const struct profile *p = r->profile;
    size_t start = p->loc_start[sample], end = p->loc_start[sample + 1];
    size_t left = p->loc_start[p->n_samples] - end;

    c->weight = report_value(r, sample);
    c->div = report_divisor(r, sample);
    c->stamp = (uint32_t)sample + 1;
    if ((c->weight == 0 && c->div == 0) || start == end)
        return;
    add_frames(c, p->stack + start, end - start,
               left >= LOOK_AHEAD ? LOOK_AHEAD : 0);
    add_to_leaf(c, p->stack[start]);
}

static void count_graph(struct graph *g)
{
    size_t n = g->table.infos.n;
    struct cost *costs = arena_new_array(g->arena, struct cost, n);
    struct counting c = {.graph = g, .costs = costs};

    vec_reserve(g->arena, &g->nodes, n);
    g->nodes.n = n;
    g->inlined = arena_new_array(g->arena, int64_t, n);
    for (size_t i = 0; i < g->report->profile->n_samples; i++)
        count_sample(&c, i);
    for (size_t i = 0; i < n; i++) {
        g->nodes.v[i].info = (uint32_t)i;
        g->nodes.v[i].cum = costs[i].cum;
    }
    arena_release(g->arena, costs, n * sizeof(*costs));
}

static bool is_shown(const struct node *n, bool drop_negative)
{
    if (n->flat == 0 && n->cum == 0)
        return false;
    if (!drop_negative)
        return true;
    return n->flat > 0 || (n->flat == 0 && n->cum >= 0);
}

static void show_nodes(struct graph *g)
{
    g->shown = arena_new_array(g->arena, uint32_t, g->nodes.n);
    g->is_shown = arena_new_array(g->arena, bool, g->nodes.n);
    g->is_gone = arena_new_array(g->arena, bool, g->nodes.n);
    for (size_t i = 0; i < g->nodes.n; i++) {
        if (!is_shown(&g->nodes.v[i], g->report->config.drop_negative))
            continue;
        g->shown[g->n_shown++] = (uint32_t)i;
        g->is_shown[i] = true;
    }
    assert(g->n_shown <= g->nodes.n);
}

/* Disassembly and its relatives tell functions of two binaries apart. */
static bool keeps_objects(enum report_format format)
{
    return format == REPORT_CALLGRIND || format == REPORT_DISASM ||
           format == REPORT_LIST || format == REPORT_WEBLIST;
}

void graph_init(struct graph *g, struct report *r)
{
    enum report_format format = r->request->format;
    struct node_options options = {
        .objects = keeps_objects(format),
        .trim_path = r->config.trim_path,
        .source_path = r->config.source_path,
    };

    *g = (struct graph){.arena = r->arena, .report = r};
    g->is_tree = r->config.call_tree &&
                 (format == REPORT_DOT || format == REPORT_CALLGRIND);
    node_table_init(&g->table, r->arena, r->profile, &options);
    if (g->is_tree)
        call_tree_count(g);
    else
        count_graph(g);
    show_nodes(g);
}

void graph_keep(struct graph *g, const bool *kept)
{
    size_t n = 0;

    for (size_t i = 0; i < g->n_shown; i++) {
        uint32_t node = g->shown[i];

        if (kept[node]) {
            g->shown[n++] = node;
            continue;
        }
        g->is_shown[node] = false;
        g->is_gone[node] = true;
    }
    g->n_shown = n;
    if (!g->is_tree)
        node_table_keep(&g->table, g->is_shown);
}

/* The edges that are wanted, as arrays that can be asked without a branch. */
static struct graph_wanted wanted_or_all(struct graph *g,
                                         const struct graph_wanted *w)
{
    bool *all = arena_new_array(g->arena, bool, g->nodes.n);
    bool *none = arena_new_array(g->arena, bool, g->nodes.n);
    bool any = w->into || w->out_of;

    memset(all, 1, g->nodes.n * sizeof(*all));
    return (struct graph_wanted){
        .into = w->into ? w->into
                : any   ? none
                        : all,
        .out_of = w->out_of ? w->out_of : none,
    };
}

static void connect_steps(struct graph *g, const struct walk *w,
                          const struct graph_wanted *wanted, size_t sample)
{
    const struct step *step = w->steps.v;
    struct call *calls = edges_calls(&g->edges, w->steps.n);
    size_t n = 0;

    for (size_t i = 1; i < w->steps.n; i++) {
        uint32_t src = step[i - 1].node, dst = step[i].node;

        calls[n] = (struct call){.src = src,
                                 .dst = dst,
                                 .inlined = step[i].inlined,
                                 .residual = step[i].residual};
        n += (src != dst) & (wanted->into[dst] | wanted->out_of[src]);
    }
    edges_add(&g->edges, n,
              &(struct edge_weight){
                  .sample = (uint32_t)sample,
                  .weight = report_value(g->report, sample),
                  .weight_div = report_divisor(g->report, sample),
              });
}

static void tag_steps(struct graph *g, const struct walk *w,
                      struct sample_tags *tags, uint32_t *last_sample,
                      size_t sample)
{
    int64_t weight = report_value(g->report, sample);
    int64_t div = report_divisor(g->report, sample);
    size_t n = w->steps.n;

    for (size_t i = 0; i < n; i++) {
        uint32_t node = w->steps.v[i].node;

        if (!g->is_shown[node] || last_sample[node] == sample + 1)
            continue;
        last_sample[node] = (uint32_t)sample + 1;
        sample_tags_add(tags, node, false, weight, div);
    }
    if (n > 0 && !w->leaf_removed && g->is_shown[w->steps.v[n - 1].node])
        sample_tags_add(tags, w->steps.v[n - 1].node, true, weight, div);
}

static bool counts(const struct report *r, size_t sample)
{
    return report_value(r, sample) != 0 || report_divisor(r, sample) != 0;
}

static void connect_samples(struct graph *g, const struct graph_wanted *wanted)
{
    struct walk w = {0};

    for (size_t i = 0; i < g->report->profile->n_samples; i++) {
        if (!counts(g->report, i))
            continue;
        walk_sample(&w, &g->table, i);
        connect_steps(g, &w, wanted, i);
    }
}

void graph_connect(struct graph *g, const struct graph_wanted *wanted)
{
    struct graph_wanted want;

    edges_init(&g->edges, g->arena);
    if (g->is_tree) {
        call_tree_connect(g);
    } else {
        want = wanted_or_all(g, wanted);
        if (edge_matrix_fits(g))
            edge_matrix_connect(g, &want);
        else
            connect_samples(g, &want);
    }
    edges_link(&g->edges, g->nodes.n);
}

void graph_tag(struct graph *g)
{
    const struct report *r = g->report;
    uint32_t *last_sample = arena_new_array(g->arena, uint32_t, g->nodes.n);
    struct sample_tags *tags;
    struct walk w = {0};

    node_tags_init(&g->tags, g->arena, r);
    tags = sample_tags_new(&g->tags, r);
    for (size_t i = 0; i < r->profile->n_samples; i++) {
        if (!counts(r, i) || !sample_tags_read(tags, i))
            continue;
        walk_sample(&w, &g->table, i);
        if (g->is_tree)
            call_tree_climb(g, &w);
        tag_steps(g, &w, tags, last_sample, i);
    }
    node_tags_link(&g->tags, g->nodes.n);
    sample_tags_free(tags);
}

int64_t node_flat(const struct node *n)
{
    return n->flat_div ? i64_div(n->flat, n->flat_div) : n->flat;
}

int64_t node_cum(const struct node *n)
{
    return n->cum_div ? i64_div(n->cum, n->cum_div) : n->cum;
}
