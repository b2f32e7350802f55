#include "test.h"

#include "profile/read.h"
#include "report/path_trim.h"
#include "report/format/dot_color.h"
#include "report/report.h"
#include "report/short_name.h"
#include "sketch.h"

/*
 * The formats that are made from graphs: -top, -tree, -peek, -dot,
 * -callgrind and -topproto.
 */
struct wish {
    enum report_format format;
    const char *argument;
    struct report_config config;
};

static struct wish wish(enum report_format format)
{
    struct wish w = {.format = format};

    config_init(&w.config);
    return w;
}

static bool run(const struct wish *w, const char *text, struct buf *out,
                struct error *err)
{
    struct report_request request = {.format = w->format,
                                     .argument = str_from(w->argument),
                                     .config = &w->config};
    struct buf warnings = BUF_INIT(BUF_NO_LIMIT);
    struct profile *p = sketch(text);
    bool ok = report_write(p, &request, out, &warnings, err);

    buf_release(&warnings);
    profile_free(p);
    return ok;
}

static void expect_report(struct wish w, const char *text, const char *want)
{
    struct buf out = BUF_INIT(BUF_NO_LIMIT);
    struct error err = {{0}};

    EXPECT(run(&w, text, &out, &err));
    EXPECT_STR(buf_str(&out), want);
    buf_release(&out);
}

/* The report has this text somewhere. */
static void expect_part(struct wish w, const char *text, const char *part)
{
    struct buf out = BUF_INIT(BUF_NO_LIMIT);
    struct error err = {{0}};

    EXPECT(run(&w, text, &out, &err));
    EXPECT(str_contains(buf_str(&out), str_from(part)));
    if (!str_contains(buf_str(&out), str_from(part)))
        printf("# no \"%s\" in:\n%s\n", part, buf_cstr(&out));
    buf_release(&out);
}

static void expect_error(struct wish w, const char *text, const char *want)
{
    struct buf out = BUF_INIT(BUF_NO_LIMIT);
    struct error err = {{0}};

    EXPECT(!run(&w, text, &out, &err));
    EXPECT_STR(str_from(err.text), want);
    buf_release(&out);
}

static const char server[] = "types samples/count cpu/nanoseconds\n"
                             "duration 2000000000\n"
                             "map /bin/app 1000-5000 b1d\n"
                             "main;read<copy 1 600000000\n"
                             "main;read 1 300000000\n"
                             "main 1 100000000\n";

TEST(top_shows_flat_sum_and_cum)
{
    expect_report(wish(REPORT_TEXT), server,
                  "File: app\n"
                  "Build ID: b1d\n"
                  "Type: cpu\n"
                  "Duration: 2s, Total samples = 1000ms (50.00%)\n"
                  "Showing nodes accounting for 1000ms, 100% of 1000ms "
                  "total\n"
                  "      flat  flat%   sum%        cum   cum%\n"
                  "     600ms 60.00% 60.00%      600ms 60.00%  copy (inline)\n"
                  "     300ms 30.00% 90.00%      900ms 90.00%  read\n"
                  "     100ms 10.00%   100%     1000ms   100%  main\n");
}

TEST(headers_name_filters_and_what_was_dropped)
{
    struct wish w = wish(REPORT_TEXT);

    w.config.compact_labels = true;
    w.config.focus = STR("main");
    w.config.nodefraction = 0.7;
    expect_report(w, server,
                  "Active filters:\n"
                  "   focus=main\n"
                  "Showing nodes accounting for 400ms, 40.00% of 1000ms "
                  "total\n"
                  "Dropped 1 node (cum <= 700ms)\n"
                  "      flat  flat%   sum%        cum   cum%\n"
                  "     300ms 30.00% 30.00%      900ms 90.00%  read\n"
                  "     100ms 10.00% 40.00%     1000ms   100%  main\n");
}

TEST(a_long_filter_is_cut_by_bytes)
{
    struct wish w = wish(REPORT_TEXT);

    w.config.ignore = STR("0123456789012345678901234567890123456789"
                          "01234567890123456789012345678901234567890");
    expect_part(w, server,
                "\n   ignore=0123456789012345678901234567890123456789"
                "012345678901234567890123456789012…\n");
}

TEST(tree_shows_callers_above_and_callees_below)
{
    struct wish w = wish(REPORT_TREE);

    w.config.compact_labels = true;
    expect_report(
        w, "types cpu/count\nmain;f<g 3\nmain;g 1\n",
        "Showing nodes accounting for 4, 100% of 4 total\n"
        "----------------------------------------------------------+"
        "-------------\n"
        "      flat  flat%   sum%        cum   cum%   calls calls% + context "
        "\t \t \n"
        "----------------------------------------------------------+"
        "-------------\n"
        "                                                 3 75.00% |   f "
        "(inline)\n"
        "                                                 1 25.00% |   main\n"
        "         4   100%   100%          4   100%                | g\n"
        "----------------------------------------------------------+"
        "-------------\n"
        "                                                 3   100% |   main\n"
        "         0     0%   100%          3 75.00%                | f\n"
        "                                                 3   100% |   g "
        "(inline)\n"
        "----------------------------------------------------------+"
        "-------------\n"
        "         0     0%   100%          4   100%                | main\n"
        "                                                 3 75.00% |   f\n"
        "                                                 1 25.00% |   g\n"
        "----------------------------------------------------------+"
        "-------------\n");
}

TEST(peek_finds_nodes_or_says_so)
{
    struct wish w = wish(REPORT_PEEK);

    w.argument = "^re";
    expect_part(w, server, "                | read\n");
    w.argument = "nowhere";
    expect_error(w, server, "no matches found for regexp: nowhere");
    w.argument = "(";
    expect_error(w, server,
                 "parsing argument regexp (: error parsing regexp: missing "
                 "closing ): `(`");
}

TEST(dot_has_a_legend_nodes_and_edges)
{
    struct wish w = wish(REPORT_DOT);

    expect_report(
        w,
        "types cpu/count\n"
        "map /bin/a\"pp 1000-5000\n"
        "main;ns::f 3\n"
        "main 1\n",
        "digraph \"a\"pp\" {\n"
        "node [style=filled fillcolor=\"#f8f8f8\"]\n"
        "subgraph cluster_L { \"File: a\\\"pp\" [shape=box fontsize=16 "
        "label=\"File: a\\\"pp\\lType: cpu\\lShowing nodes accounting for 4, "
        "100% of 4 total\\l\\lSee https://git.io/JfYMW for how to read the "
        "graph\\l\" tooltip=\"a\"pp\"] }\n"
        "N1 [label=\"main\\n1 (25.00%)\\nof 4 (100%)\" id=\"node1\" "
        "fontsize=18 shape=box tooltip=\"main (4)\" color=\"#b20000\" "
        "fillcolor=\"#edd5d5\"]\n"
        "N2 [label=\"ns\\nf\\n3 (75.00%)\" id=\"node2\" fontsize=24 shape=box "
        "tooltip=\"ns::f (3)\" color=\"#b20e00\" fillcolor=\"#edd7d5\"]\n"
        "N1 -> N2 [label=\" 3\" weight=76 penwidth=4 color=\"#b20e00\" "
        "tooltip=\"main -> ns::f (3)\" labeltooltip=\"main -> ns::f (3)\"]\n"
        "}\n");
}

TEST(dot_without_nodes_is_its_legend)
{
    expect_report(wish(REPORT_DOT), "types cpu/count\n",
                  "digraph \"unnamed\" {\n"
                  "node [style=filled fillcolor=\"#f8f8f8\"]\n"
                  "subgraph cluster_L { \"Type: cpu\" [shape=box fontsize=16 "
                  "label=\"Type: cpu\\lShowing nodes accounting for 0, "
                  "0% of 0 total\\l\\lSee https://git.io/JfYMW for how to "
                  "read the graph\\l\"] }\n"
                  "}\n");
}

TEST(dot_hangs_labels_on_nodes_and_sizes_on_labels)
{
    const char *text = "types cpu/count\n"
                       "main;f 3 key=a bytes:1024bytes\n"
                       "main;f 1 bytes:16bytes\n";

    expect_part(wish(REPORT_DOT), text,
                "N1_0 [label = \"key:a\" id=\"N1_0\" fontsize=8 shape=box3d "
                "tooltip=\"3\"]\n"
                "N1 -> N1_0 [label=\" 3\" weight=100 tooltip=\"3\" "
                "labeltooltip=\"3\"]\n"
                "NN1_0_0 [label = \"1kB\" id=\"NN1_0_0\" fontsize=8 "
                "shape=box3d tooltip=\"3\"]\n"
                "N1_0 -> NN1_0_0 [label=\" 3\" weight=100 tooltip=\"3\" "
                "labeltooltip=\"3\"]\n"
                "NN1_0 [label = \"16B\" id=\"NN1_0\" fontsize=8 shape=box3d "
                "tooltip=\"1\"]\n");
}

TEST(dot_groups_sizes_beyond_four_around_the_heaviest)
{
    const char *text = "types cpu/count\n"
                       "f 50 bytes:1bytes\n"
                       "f 40 bytes:100bytes\n"
                       "f 30 bytes:1000bytes\n"
                       "f 20 bytes:10000bytes\n"
                       "f 3 bytes:90bytes\n"
                       "f 2 bytes:9000bytes\n";

    expect_part(wish(REPORT_DOT), text,
                "NN1_1 [label = \"90B..100B\" id=\"NN1_1\" fontsize=8 "
                "shape=box3d tooltip=\"43\"]\n");
    expect_part(wish(REPORT_DOT), text,
                "NN1_3 [label = \"8.79kB..9.77kB\" id=\"NN1_3\" fontsize=8 "
                "shape=box3d tooltip=\"22\"]\n");
}

TEST(dot_marks_residual_edges_and_leaves_room_for_tags)
{
    struct wish w = wish(REPORT_DOT);

    w.config.nodefraction = 0.5;
    expect_part(w,
                "types cpu/count\n"
                "main;gone;f 20\n"
                "main;f 40\n"
                "main 60 key=a\n",
                "tooltip=\"main ... f (60)\" labeltooltip=\"main ... f "
                "(60)\" style=\"dotted\" minlen=2]\n");
}

TEST(callgrind_numbers_names_and_shortens_addresses)
{
    expect_report(wish(REPORT_CALLGRIND),
                  "types cpu/count\n"
                  "map app 1000-50000\n"
                  "app!main@m.c:3#10010;app!f@f.c:7#10020 5\n"
                  "app!main@m.c:3#10010;app!f@f.c:9#10028 2\n"
                  "app!main@m.c:3#10010 1\n",
                  "positions: instr line\n"
                  "events: cpu(count)\n"
                  "\n"
                  "ob=(1) app\n"
                  "fl=(1) f.c\n"
                  "fn=(1) f\n"
                  "0x10020 7 5\n"
                  "+8 9 2\n"
                  "\n"
                  "ob=(1)\n"
                  "fl=(2) m.c\n"
                  "fn=(2) main\n"
                  "-24 3 1\n"
                  "cfl=(1)\n"
                  "cfn=(1)\n"
                  "calls=0 -8 7\n"
                  "* * 5\n"
                  "cfl=(1)\n"
                  "cfn=(1)\n"
                  "calls=0 * 9\n"
                  "* * 2\n");
}

TEST(callgrind_tells_functions_of_one_name_apart)
{
    struct wish w = wish(REPORT_CALLGRIND);

    w.config.call_tree = true;
    expect_part(w,
                "types cpu/count\n"
                "a;f 3\n"
                "b;f 2\n",
                "cfn=(3) f [1/2]\n");
    expect_part(w,
                "types cpu/count\n"
                "a;f 3\n"
                "b;f 2\n",
                "cfn=(5) f [2/2]\n");
}

TEST(topproto_is_a_profile_of_the_table)
{
    struct wish w = wish(REPORT_TOPPROTO);
    struct buf out = BUF_INIT(BUF_NO_LIMIT);
    struct error err = {{0}};
    struct profile *p;
    char *text;

    EXPECT(run(&w, server, &out, &err));
    p = profile_read_memory(buf_str(&out), NULL, &err);
    EXPECT(p);
    if (!p)
        return;
    text = sketch_of(p);
    EXPECT_STR(str_from(text), "copy 600 600\nread 900 300\nmain 1000 100\n");
    EXPECT_STR(profile_str(p, p->types.v[0].type), "cum");
    EXPECT_STR(profile_str(p, p->types.v[1].unit), "ms");
    EXPECT(p->duration_ns == 2000000000);
    free(text);
    profile_free(p);
    buf_release(&out);
}

static bool shortens(const char *name, const char *want)
{
    struct arena *a = arena_new();
    struct str got = short_name(a, str_from(name));
    bool same = str_eq(got, str_from(want));

    if (!same)
        printf("# %s -> %.*s\n", name, (int)got.n, got.s);
    arena_free(a);
    return same;
}

TEST(names_are_shortened_by_their_language)
{
    EXPECT(shortens("github.com/a/b/pkg.(*T).Do", "pkg.(*T).Do"));
    EXPECT(shortens("github.com/a/b/v2/pkg.F", "pkg.F"));
    EXPECT(shortens("github.com/a/b/v12.F", "b.F"));
    EXPECT(shortens("github.com/a/b/v1.F", "v1.F"));
    EXPECT(shortens("a/b.c/foo", "b.c/foo"));
    EXPECT(shortens("a/b/foo", "a/b/foo"));
    EXPECT(shortens("java.util.List.add(Object)", "List.add"));
    EXPECT(shortens("com.x.Y.<init>", "Y.<init>"));
    EXPECT(shortens("com.x.Y$Z.run$1", "Y$Z.run$1"));
    EXPECT(shortens("com.x.Y.add:3", "com.x.Y.add:3"));
    EXPECT(shortens("a::b::Class::method(int)", "Class::method"));
    EXPECT(shortens("a::_Class::~_Class", "_Class::~_Class"));
    EXPECT(shortens("a::B::C::D<int, a::E>::x", "C::D<int, a::E>"));
    EXPECT(shortens("a::b::c", "a::b::c"));
    EXPECT(shortens("(anonymous namespace)::a::B::c", "B::c"));
    EXPECT(shortens("main", "main"));
    EXPECT(shortens("", ""));
}

static void expect_color(double share, bool background, const char *want)
{
    EXPECT_STR(str_from(dot_color(share, background).text), want);
}

TEST(colours_go_from_green_over_grey_to_red)
{
    expect_color(-1, false, "#00b200");
    expect_color(1, false, "#b20000");
    expect_color(7, false, "#b20000");
    expect_color(0, false, "#b2b2b2");
    expect_color(0, true, "#ededed");
    expect_color(1, true, "#edd5d5");
    expect_color(0.05, false, "#b2a085");
    expect_color(0.0 / 0.0, false, "#b20000");
    expect_color(0.0 / 0.0, true, "#ed00d5");
}

static void expect_trimmed(const char *path, const char *trim,
                           const char *source, const char *want)
{
    EXPECT_STR(path_trim(str_from(path), str_from(trim), str_from(source)),
               want);
}

TEST(paths_lose_what_only_the_builder_knows)
{
    expect_trimmed("/build/proj/src/a.c", "", "/home/me/proj", "src/a.c");
    expect_trimmed("/build/proj/src/a.c", "", "/x:/y/src/", "a.c");
    expect_trimmed("/build/a.c", "/build", "", "a.c");
    expect_trimmed("/build/a.c", "/b:/build/", "", "a.c");
    expect_trimmed("/builder/a.c", "/build", "", "/builder/a.c");
    expect_trimmed("/proc/self/cwd/./a.c", "", "", "a.c");
    expect_trimmed("/proc/self/cwd/a.c", "/q", "", "a.c");
    expect_trimmed("/proj/a.c", "/q", "/x/proj", "/proj/a.c");
}

TEST(the_value_is_chosen_by_name_number_or_default)
{
    struct profile *p = sketch("types alloc_space/bytes space/bytes c/count\n"
                               "default space\n"
                               "main 1 2 3\n");
    struct error err = {{0}};
    size_t i = 9;

    EXPECT(report_sample_index(p, STR(""), &i, &err) && i == 1);
    EXPECT(report_sample_index(p, STR("c"), &i, &err) && i == 2);
    EXPECT(report_sample_index(p, STR("+0"), &i, &err) && i == 0);
    EXPECT(report_sample_index(p, STR("inuse_space"), &i, &err) && i == 1);
    EXPECT(!report_sample_index(p, STR("3"), &i, &err));
    EXPECT_STR(str_from(err.text),
               "sample_index 3 is outside the range [0..2]");
    EXPECT(!report_sample_index(p, STR("x\n"), &i, &err));
    EXPECT_STR(str_from(err.text), "sample_index \"x\\n\" must be one of: "
                                   "[alloc_space space c]");
    profile_free(p);
}

TEST(the_total_of_a_difference_is_that_of_the_base)
{
    const char *text = "types cpu/count\n"
                       "main;f 30\n"
                       "main;f -10 pprof::base=true\n";

    expect_part(wish(REPORT_TEXT), text,
                "Showing nodes accounting for 20, 200.00% of 10 total\n");
}

TEST(relative_percentages_are_of_what_filters_leave)
{
    struct wish w = wish(REPORT_TEXT);

    w.config.focus = STR("read");
    expect_part(w, server, "900ms 90.00%  read\n");
    w.config.relative_percentages = true;
    expect_part(w, server, "900ms   100%  read\n");
}

TEST(options_that_match_nothing_are_warned_about)
{
    struct report_config config;
    struct report_request request = {.format = REPORT_TEXT, .config = &config};
    struct buf out = BUF_INIT(BUF_NO_LIMIT), warnings = BUF_INIT(BUF_NO_LIMIT);
    struct error err = {{0}};
    struct profile *p = sketch(server);

    config_init(&config);
    config.hide = STR("nothing");
    config.focus = STR("nothing");
    config.tagfocus = STR("nothing");
    config.tagroot = STR("nokey");
    EXPECT(report_write(p, &request, &out, &warnings, &err));
    EXPECT_STR(buf_str(&warnings), "TagRoot expression matched no samples\n"
                                   "Focus expression matched no samples\n"
                                   "Hide expression matched no samples\n"
                                   "TagFocus expression matched no samples\n");
    buf_release(&out);
    buf_release(&warnings);
    profile_free(p);
}

TEST(wrong_options_are_errors)
{
    struct wish w = wish(REPORT_TEXT);

    w.config.divide_by = 0;
    expect_error(w, server, "zero divisor specified");
    w = wish(REPORT_TEXT);
    w.config.show = STR("[");
    expect_error(w, server,
                 "parsing show regexp: error parsing regexp: missing closing "
                 "]: `[`");
    expect_error(wish(REPORT_TEXT), "", "profile has no samples");
}

TEST_MAIN
