#include "test.h"

#include "random_profile.h"
#include "report/format/top.h"
#include "report/graph/edge_matrix.h"
#include "report/graph/order.h"
#include "report/graph/sample_walk.h"
#include "report/graph/trim.h"
#include "sketch.h"

/*
 * Graphs from sketches, printed as lines:
 *
 *     main 0 30              node, flat, cum
 *       -> read 20           its calls: "=>" inlined, "~" residual
 */
struct fixture {
    struct report report;
    struct report_request request;
    struct report_config config;
    struct header_counts counts;
    struct graph graph;
};

static void setup(struct fixture *f, struct profile *p)
{
    config_init(&f->config);
    f->config.nodefraction = 0;
    f->config.edgefraction = 0;
    f->request =
        (struct report_request){.format = REPORT_TREE, .config = &f->config};
    f->report = (struct report){
        .arena = arena_new(),
        .profile = p,
        .request = &f->request,
        .value_index = p->types.n - 1,
        .sample_unit = STR("count"),
        .output_unit = STR("minimum"),
    };
}

static void make(struct fixture *f, enum graph_detail detail)
{
    f->report.config = f->config;
    graph_make(&f->graph, &f->report, detail, &f->counts);
}

static void teardown(struct fixture *f)
{
    regex_free(f->report.argument);
    arena_free(f->report.arena);
    profile_free(f->report.profile);
}

static void add_calls(struct graph *g, uint32_t node, struct buf *out)
{
    const struct edges *e = &g->edges;
    size_t start = e->out_start[node], n;
    uint32_t *ids =
        edges_sorted(g, e->out + start, e->out_start[node + 1] - start, &n);

    for (size_t i = 0; i < n; i++) {
        const struct edge *edge = &e->all.v[ids[i]];

        buf_addf(out, "  %s%s %" STR_FMT " %lld\n", edge->residual ? "~" : "",
                 edge->inlined ? "=>" : "->", STR_ARG(graph_name(g, edge->dst)),
                 (long long)edge->weight);
    }
}

static void print_graph(struct graph *g, struct buf *out)
{
    for (size_t i = 0; i < g->n_shown; i++) {
        const struct node *n = &g->nodes.v[g->shown[i]];

        buf_addf(out, "%" STR_FMT " %lld %lld\n",
                 STR_ARG(graph_name(g, g->shown[i])), (long long)n->flat,
                 (long long)n->cum);
        if (g->edges.out)
            add_calls(g, g->shown[i], out);
    }
}

static void expect_graph(struct fixture *f, const char *want)
{
    struct buf out = BUF_INIT(BUF_NO_LIMIT);

    print_graph(&f->graph, &out);
    EXPECT_STR(buf_str(&out), want);
    buf_release(&out);
}

TEST(recursion_counts_once_a_sample)
{
    struct fixture f;

    setup(&f, sketch("types cpu/count\n"
                     "main;f;g;f;g;f 10\n"
                     "main;f;f 5\n"));
    make(&f, GRAPH_EDGES);
    expect_graph(&f, "f 15 15\n"
                     "  -> g 10\n"
                     "g 0 10\n"
                     "  -> f 10\n"
                     "main 0 15\n"
                     "  -> f 15\n");
    teardown(&f);
}

TEST(an_edge_is_inlined_if_it_is_in_every_sample)
{
    struct fixture f;

    setup(&f, sketch("types cpu/count\n"
                     "main<f;g<h 10\n"
                     "main;f 5\n"));
    make(&f, GRAPH_EDGES);
    expect_graph(&f, "h 10 10\n"
                     "f 5 15\n"
                     "  -> g 10\n"
                     "g 0 10\n"
                     "  => h 10\n"
                     "main 0 15\n"
                     "  -> f 15\n");
    teardown(&f);
}

TEST(samples_without_value_or_frames_leave_no_trace)
{
    struct fixture f;

    setup(&f, sketch("types cpu/count\n"
                     "main;idle 0\n"
                     "- 7\n"
                     "main 3\n"));
    make(&f, GRAPH_EDGES);
    expect_graph(&f, "main 3 3\n");
    teardown(&f);
}

TEST(light_nodes_leave_residual_edges_and_nobody_inherits_their_cost)
{
    struct fixture f;

    setup(&f, sketch("types cpu/count\n"
                     "main;light;heavy 30\n"
                     "main;heavy 60\n"
                     "main;heavy;leaf 10\n"));
    f.config.nodefraction = 0.4;
    make(&f, GRAPH_EDGES);
    expect_graph(&f, "heavy 90 100\n"
                     "main 0 100\n"
                     "  ~-> heavy 100\n");
    EXPECT(f.counts.dropped_nodes == 2);
    EXPECT(f.counts.flat_sum == 90);
    teardown(&f);
}

TEST(light_edges_go_and_nodes_stay)
{
    struct fixture f;

    setup(&f, sketch("types cpu/count\n"
                     "main;a 90\n"
                     "main;b;a 9\n"
                     "b 1\n"));
    f.config.edgefraction = 0.5;
    make(&f, GRAPH_EDGES);
    expect_graph(&f, "a 99 99\n"
                     "b 1 10\n"
                     "main 0 99\n"
                     "  -> a 90\n");
    teardown(&f);
}

TEST(nodecount_keeps_the_first_and_says_out_of_how_many)
{
    struct fixture f;

    setup(&f, sketch("types cpu/count\n"
                     "main;a;b 5\n"
                     "main;a 3\n"
                     "main 1\n"));
    f.config.nodecount = 2;
    make(&f, GRAPH_EDGES);
    expect_graph(&f, "b 5 5\n"
                     "a 3 8\n"
                     "  -> b 5\n");
    EXPECT(f.counts.shown == 2 && f.counts.candidates == 3);
    EXPECT(f.counts.dropped_nodes == 0);
    teardown(&f);
}

TEST(nodes_that_cancel_out_are_not_shown_but_still_called)
{
    struct fixture f;

    setup(&f, sketch("types cpu/count\n"
                     "main;zero 5\n"
                     "main;zero -5\n"
                     "main 1\n"));
    make(&f, GRAPH_EDGES);
    expect_graph(&f, "main 1 1\n"
                     "  -> zero 0\n");
    teardown(&f);
}

TEST(drop_negative_hides_what_got_cheaper)
{
    struct fixture f;

    setup(&f, sketch("types cpu/count\n"
                     "main;less -5\n"
                     "main;more 7\n"
                     "other;less;more -1\n"));
    f.config.drop_negative = true;
    make(&f, GRAPH_EDGES);
    expect_graph(&f, "more 6 6\n"
                     "main 0 2\n"
                     "  -> more 7\n"
                     "  -> less -5\n");
    teardown(&f);
}

TEST(equal_costs_are_ordered_by_name_then_by_the_other_cost)
{
    struct fixture f;

    setup(&f, sketch("types cpu/count\n"
                     "b 5\n"
                     "c;a 5\n"
                     "d -5\n"));
    make(&f, GRAPH_NODES);
    expect_graph(&f, "a 5 5\n"
                     "b 5 5\n"
                     "d -5 -5\n"
                     "c 0 5\n");
    f.config.sort = STR("cum");
    make(&f, GRAPH_NODES);
    expect_graph(&f, "a 5 5\n"
                     "b 5 5\n"
                     "c 0 5\n"
                     "d -5 -5\n");
    teardown(&f);
}

/* H(in) = 1 bit and H(out) = 0 for f, whose two callers share it evenly. */
TEST(scores_prefer_nodes_where_paths_meet_or_part)
{
    const struct graph_wanted all = {0};
    struct fixture f;

    setup(&f, sketch("types cpu/count\n"
                     "a;f;g;x 50\n"
                     "b;f;g;y 50\n"));
    f.report.config = f.config;
    graph_init(&f.graph, &f.report);
    graph_connect(&f.graph, &all);
    graph_sort(&f.graph, ORDER_SCORE);
    for (size_t i = 0; i < f.graph.n_shown; i++) {
        uint32_t node = f.graph.shown[i];
        struct str name = graph_name(&f.graph, node);

        if (str_eq(name, STR("f")) || str_eq(name, STR("g")))
            EXPECT(node_score(&f.graph, node) == 100);
        if (str_eq(name, STR("a"))) /* a root; its one call says nothing */
            EXPECT(node_score(&f.graph, node) == 50);
        if (str_eq(name, STR("x"))) /* a leaf, and all its cost is flat */
            EXPECT(node_score(&f.graph, node) == 100);
    }
    expect_graph(&f, "f 0 100\n  -> g 100\n"
                     "g 0 100\n  -> x 50\n  -> y 50\n"
                     "x 50 50\ny 50 50\n"
                     "a 0 50\n  -> f 50\n"
                     "b 0 50\n  -> f 50\n");
    teardown(&f);
}

TEST(means_divide_by_the_first_value_after_summing)
{
    struct fixture f;
    const struct node *n;

    setup(&f, sketch("types count/count delay/count\n"
                     "main;f 2 10\n"
                     "main;f 3 15\n"
                     "main 0 7\n"));
    f.config.mean = true;
    make(&f, GRAPH_NODES);
    n = &f.graph.nodes.v[f.graph.shown[0]];
    EXPECT_STR(graph_name(&f.graph, f.graph.shown[0]), "f");
    EXPECT(n->flat == 25 && node_flat(n) == 5 && node_cum(n) == 5);
    n = &f.graph.nodes.v[f.graph.shown[1]];
    EXPECT(node_flat(n) == 7 && node_cum(n) == 6); /* 7 / 0 and 32 / 5 */
    teardown(&f);
}

TEST(a_call_tree_has_a_node_for_every_way)
{
    struct fixture f;

    setup(&f, sketch("types cpu/count\n"
                     "main;a;x;a 3\n"
                     "main;b;x 2\n"
                     "main;b<x 1\n"));
    f.config.call_tree = true;
    f.request.format = REPORT_CALLGRIND;
    make(&f, GRAPH_EDGES);
    expect_graph(&f, "a 3 3\n"
                     "x 3 3\n"
                     "a 0 3\n  -> x 3\n"
                     "b 0 3\n  -> x 3\n"
                     "main 0 6\n  -> a 3\n  -> b 3\n"
                     "x 0 3\n  -> a 3\n");
    teardown(&f);
}

TEST(a_trimmed_call_tree_bridges_what_is_gone)
{
    struct fixture f;

    setup(&f, sketch("types cpu/count\n"
                     "root;thin<mid<leaf 60\n"
                     "root;thin<other 30\n"
                     "root;leaf 10\n"));
    f.config.call_tree = true;
    f.request.format = REPORT_DOT;
    make(&f, GRAPH_PICTURE);
    EXPECT(f.graph.n_shown == 6);
    f.config.nodefraction = 0.5;
    make(&f, GRAPH_PICTURE);
    EXPECT(f.counts.dropped_nodes == 2);
    expect_graph(&f, "leaf 60 60\n"
                     "root 0 100\n  -> thin 90\n"
                     "mid 0 60\n  => leaf 60\n"
                     "thin 0 90\n  => mid 60\n");
    f.config.nodecount = 2;
    make(&f, GRAPH_PICTURE);
    expect_graph(&f, "leaf 60 60\n"
                     "root 0 100\n  ~-> leaf 60\n");
    teardown(&f);
}

TEST(residual_edges_go_where_another_way_is_shown)
{
    struct fixture f;

    setup(&f, sketch("types cpu/count\n"
                     "main;a;b 50\n"
                     "main;gone;b 45\n"));
    f.config.nodefraction = 0.5;
    f.request.format = REPORT_DOT;
    make(&f, GRAPH_PICTURE);
    EXPECT(f.counts.dropped_nodes == 1);
    expect_graph(&f, "b 95 95\n"
                     "main 0 95\n  -> a 50\n"
                     "a 0 50\n  -> b 50\n");
    teardown(&f);
}

static enum top_inlined inlined_by_all_edges(const struct graph *g,
                                             uint32_t node)
{
    bool some = false, all = true;

    for (size_t i = g->edges.in_start[node]; i < g->edges.in_start[node + 1];
         i++) {
        const struct edge *e = &g->edges.all.v[g->edges.in[i]];

        if (e->removed)
            continue;
        some |= e->inlined;
        all &= e->inlined;
    }
    return !some ? TOP_NOT_INLINED : all ? TOP_INLINED : TOP_PARTLY_INLINED;
}

static enum top_inlined inlined_in_table(struct fixture *f, const char *name)
{
    struct top_table t;

    top_make(&t, &f->report);
    for (size_t i = 0; i < t.n; i++)
        if (str_eq(t.rows[i].name, str_from(name)))
            return t.rows[i].inlined;
    return TOP_NOT_INLINED;
}

/* By then the walk passes inlined calls over without a look. */
TEST(a_call_behind_an_inlined_one_of_its_sample_does_not_count)
{
    static const struct {
        const char *last;
        enum top_inlined want;
    } cases[] = {
        {"main;f<g;f;g 1\n", TOP_INLINED},
        {"main;f;g;f<g 1\n", TOP_NOT_INLINED},
        {"main;f<g;f;g 1\nmain;f;g 1\n", TOP_NOT_INLINED},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf text = BUF_INIT(4096);
        struct fixture f;

        buf_add(&text, STR("types cpu/count\n"));
        for (int k = 0; k < 40; k++)
            buf_add(&text, STR("main;f<g 100\n"));
        buf_add(&text, str_from(cases[i].last));
        setup(&f, sketch(buf_cstr(&text)));
        f.config.edgefraction = 0.1;
        f.report.config = f.config;
        EXPECT(inlined_in_table(&f, "g") == cases[i].want);
        teardown(&f);
        buf_release(&text);
    }
}

/* -top makes only the edges that it needs for its "(inline)". */
TEST(the_table_marks_inlined_nodes_as_the_whole_graph_would)
{
    static const double fractions[] = {0, 0.05, 0.2};
    uint64_t state = random_seed();

    for (int round = 0; round < 300; round++) {
        struct fixture f;
        struct top_table t;
        bool same = true;

        setup(&f, random_profile(&state, round % 2 ? 0 : -3));
        f.config.nodefraction = fractions[random_below(&state, 3)];
        f.config.edgefraction = fractions[random_below(&state, 3)];
        f.config.nodecount = (int)random_below(&state, 5) - 1;
        make(&f, GRAPH_EDGES);
        top_make(&t, &f.report);
        EXPECT(t.n == f.graph.n_shown);
        for (size_t i = 0; i < t.n && i < f.graph.n_shown; i++)
            same &= t.rows[i].inlined ==
                    inlined_by_all_edges(&f.graph, f.graph.shown[i]);
        EXPECT(same);
        teardown(&f);
    }
}

/* The profile's samples over and over, so that there are many for few nodes;
 * each time with another weight. */
static void repeat_samples(struct profile *p, int times)
{
    size_t n = p->n_samples, types = p->types.n;
    struct sample_builder b;

    sample_builder_init(&b, p);
    for (int k = 1; k < times; k++)
        for (size_t i = 0; i < n; i++) {
            int64_t values[8];

            for (size_t f = p->loc_start[i]; f < p->loc_start[i + 1]; f++)
                sample_builder_frame(&b, p->stack[f]);
            for (size_t t = 0; t < types; t++)
                values[t] = p->values[i * types + t] * (k % 3 - 1);
            sample_builder_end(&b, values);
        }
}

/* The edges between all nodes, in the plainest way. */
static struct edge *plain_edges(const struct graph *g)
{
    size_t n = g->nodes.n;
    struct edge *edges = arena_new_array(g->arena, struct edge, n * n);
    struct walk w = {0};

    for (size_t i = 0; i < g->report->profile->n_samples; i++) {
        if (report_value(g->report, i) == 0)
            continue;
        walk_sample(&w, &g->table, i);
        for (size_t k = 1; k < w.steps.n; k++) {
            const struct step *to = &w.steps.v[k];
            struct edge *e = &edges[w.steps.v[k - 1].node * n + to->node];

            if (e->last_sample == i + 1)
                continue;
            e->inlined = to->inlined && (e->last_sample == 0 || e->inlined);
            e->last_sample = (uint32_t)i + 1;
            e->weight += report_value(g->report, i);
            e->residual |= to->residual;
        }
    }
    return edges;
}

static bool has_edge_as(const struct graph *g, uint32_t src, uint32_t dst,
                        const struct edge *want)
{
    const struct edges *e = &g->edges;

    for (size_t i = e->out_start[src]; i < e->out_start[src + 1]; i++) {
        const struct edge *edge = &e->all.v[e->out[i]];

        if (edge->dst == dst)
            return edge->weight == want->weight &&
                   edge->inlined == want->inlined &&
                   edge->residual == want->residual;
    }
    return false;
}

TEST(edges_by_the_matrix_are_those_of_a_plain_walk)
{
    const struct graph_wanted all = {0};
    uint64_t state = random_seed();
    int by_matrix = 0;

    for (int round = 0; round < 100; round++) {
        struct fixture f;
        struct edge *plain;
        bool same = true;

        setup(&f, random_profile(&state, round % 2 ? 0 : -3));
        repeat_samples(f.report.profile, 1 + round % 20);
        f.config.nodefraction = 0.05;
        make(&f, GRAPH_NODES);
        by_matrix += edge_matrix_fits(&f.graph);
        graph_connect(&f.graph, &all);
        plain = plain_edges(&f.graph);
        for (uint32_t src = 0; src < f.graph.nodes.n; src++)
            for (uint32_t dst = 0; dst < f.graph.nodes.n; dst++) {
                const struct edge *e = &plain[src * f.graph.nodes.n + dst];
                bool is_edge = e->last_sample && src != dst;

                same &= has_edge_as(&f.graph, src, dst, e) == is_edge;
            }
        EXPECT(same);
        teardown(&f);
    }
    EXPECT(by_matrix > 20 && by_matrix < 100);
}

/* Peeking makes the edges of the matching nodes only. */
TEST(matched_nodes_have_all_their_edges)
{
    struct fixture f;
    struct error err;

    setup(&f, sketch("types cpu/count\n"
                     "main;a;b;c 4\n"
                     "main;b 3\n"));
    f.report.argument = regex_new(STR("^b$"), &err);
    make(&f, GRAPH_MATCHED);
    expect_graph(&f, "c 4 4\n"
                     "b 3 7\n  -> c 4\n"
                     "a 0 4\n  -> b 4\n"
                     "main 0 7\n  -> b 3\n");
    teardown(&f);
}

static void expect_unit(const char *unit, const char *sketch_text,
                        double divide_by, const char *want)
{
    struct fixture f;

    setup(&f, sketch(sketch_text));
    f.config.divide_by = divide_by;
    f.report.sample_unit = str_from(unit);
    f.report.total = 1000000000;
    make(&f, GRAPH_NODES);
    EXPECT_STR(f.report.output_unit, want);
    teardown(&f);
}

TEST(the_common_unit_suits_the_smallest_value_unless_the_total_is_far_larger)
{
    expect_unit("nanoseconds", "types c/u\na 20000000\n", 1, "ms");
    expect_unit("nanoseconds", "types c/u\na 2000000\n", 1, "ms");
    expect_unit("nanoseconds", "types c/u\na 20000\n", 1, "ms");
    expect_unit("nanoseconds", "types c/u\na 200\n", 1, "us");
    expect_unit("nanoseconds", "types c/u\na 1000000000\n", 1, "s");
    expect_unit("nanoseconds", "types c/u\na 1000000000\n", 1000, "ms");
    expect_unit("widgets", "types c/u\na 3\n", 1, "widgets");
    expect_unit("count", "types c/u\na 3\n", 1, "count");
}

TEST(nothing_to_show_leaves_the_unit_open)
{
    expect_unit("nanoseconds", "types c/u\na 0\n", 1, "minimum");
}

TEST_MAIN
