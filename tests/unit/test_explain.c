#include "test.h"

#include <math.h>

#include "report/report.h"
#include "sketch.h"

/*
 * What changed since a base.  Samples of the base are negative and labelled,
 * as -diff_base makes them.
 */
#define BASE " pprof::base=true\n"

static void expect_words(const char *text, const char *want)
{
    struct profile *p = sketch(text);
    struct report_config c;
    struct report_request q = {.format = REPORT_EXPLAIN, .config = &c};
    struct buf out = BUF_INIT(BUF_NO_LIMIT), warnings = BUF_INIT(BUF_NO_LIMIT);
    struct error err = {{0}};

    config_init(&c);
    if (report_write(p, &q, &out, &warnings, &err))
        EXPECT_STR(buf_str(&out), want);
    else
        EXPECT_STR(str_from(err.text), want);
    buf_release(&out);
    buf_release(&warnings);
    profile_free(p);
}

TEST(a_new_callee_is_named_with_the_way_to_it)
{
    expect_words(
        "types cpu/nanoseconds\n"
        "main;old -100" BASE "main;old 100\n"
        "main;work;compile;parse 30\n"
        "main;work;compile;emit 20\n",
        "cpu: 100ns before, 150ns after: +50ns (+50.00%)\n"
        "\n"
        "Slower by 50ns\n"
        "   1.      +50ns  100.0%  work: new\n"
        "                          in main → work\n"
        "\n"
        "Functions whose own cost changed most\n"
        "           +30ns          parse: 0 → 30ns, 0.0% → 20.0% of the "
        "total\n"
        "           +20ns          emit: 0 → 20ns, 0.0% → 13.3% of the "
        "total\n");
}

TEST(opposite_changes_are_told_apart)
{
    expect_words("types space/bytes\n"
                 "main;a -100" BASE "main;b -100" BASE "main;c -800" BASE
                 "main;a 190\n"
                 "main;b 20\n"
                 "main;c 800\n",
                 "space: 1000B before, 1010B after: +10B (+1.00%)\n"
                 "\n"
                 "More by 90B\n"
                 "   1.       +90B  100.0%  a: 100B → 190B\n"
                 "                          in main → a\n"
                 "\n"
                 "Less by 80B\n"
                 "   1.       -80B  100.0%  b: 100B → 20B\n"
                 "                          in main → b\n"
                 "\n"
                 "Functions whose own cost changed most\n"
                 "            +90B          a: 100B → 190B, 10.0% → 18.8% of "
                 "the total\n"
                 "            -80B          b: 100B → 20B, 10.0% → 2.0% of "
                 "the total\n");
}

TEST(even_growth_is_one_thing_to_say)
{
    expect_words("types n/count\n"
                 "main;f;a -100" BASE "main;f;b -200" BASE "main;g -300" BASE
                 "main;f;a 200\n"
                 "main;f;b 400\n"
                 "main;g 300\n",
                 "n: 600 before, 900 after: +300 (+50.00%)\n"
                 "\n"
                 "More by 300\n"
                 "   1.       +300  100.0%  f: 300 → 600\n"
                 "                          in main → f\n"
                 "\n"
                 "Functions whose own cost changed most\n"
                 "            +200          b: 200 → 400, 33.3% → 44.4% of the "
                 "total\n"
                 "            +100          a: 100 → 200, 16.7% → 22.2% of the "
                 "total\n");
}

/* The callee is most of the program, so the parts of the root look even. */
TEST(a_root_is_not_blamed_for_what_one_callee_did)
{
    expect_words("types n/count\n"
                 "root;serve;read -70" BASE "root;serve;match -8" BASE
                 "root;gc -22" BASE "root;serve;read 71\n"
                 "root;serve;match 8\n"
                 "root;serve;match;compile 46\n"
                 "root;gc 23\n",
                 "n: 100 before, 148 after: +48 (+48.00%)\n"
                 "\n"
                 "More by 48\n"
                 "   1.        +46   95.8%  compile: new\n"
                 "                          in root → serve → match → compile\n"
                 "   2.         +1    2.1%  gc: 22 → 23\n"
                 "                          in root → gc\n"
                 "   3.         +1    2.1%  read: 70 → 71\n"
                 "                          in root → serve → read\n"
                 "\n"
                 "Functions whose own cost changed most\n"
                 "             +46          compile: 0 → 46, 0.0% → 31.1% of "
                 "the total\n"
                 "              +1          gc: 22 → 23, 22.0% → 15.5% of the "
                 "total\n"
                 "              +1          read: 70 → 71, 70.0% → 48.0% of "
                 "the total\n");
    expect_words("types n/count\n"
                 "root;serve;read -70" BASE "root;serve;match;compile -46" BASE
                 "root;gc -22" BASE "root;serve;read 70\n"
                 "root;gc 22\n",
                 "n: 138 before, 92 after: -46 (-33.33%)\n"
                 "\n"
                 "Less by 46\n"
                 "   1.        -46  100.0%  match: gone\n"
                 "                          in root → serve → match\n"
                 "\n"
                 "Functions whose own cost changed most\n"
                 "             -46          compile: 46 → 0, 33.3% → 0.0% of "
                 "the total\n");
}

/* A change and its reverse blame the same function. */
TEST(what_shrank_is_named_as_exactly_as_what_grew)
{
    expect_words("types samples/count\n"
                 "main;a;x -400" BASE "main;b -100" BASE "main;a;x 100\n"
                 "main;b 100\n",
                 "samples: 500 before, 200 after: -300 (-60.00%)\n"
                 "\n"
                 "Less by 300\n"
                 "   1.       -300  100.0%  x: 400 → 100\n"
                 "                          in main → a → x\n"
                 "\n"
                 "Functions whose own cost changed most\n"
                 "            -300          x: 400 → 100, 80.0% → 50.0% of the "
                 "total\n");
    expect_words("types samples/count\n"
                 "main;a;x -100" BASE "main;b -100" BASE "main;a;x 400\n"
                 "main;b 100\n",
                 "samples: 200 before, 500 after: +300 (+150.00%)\n"
                 "\n"
                 "More by 300\n"
                 "   1.       +300  100.0%  x: 100 → 400\n"
                 "                          in main → a → x\n"
                 "\n"
                 "Functions whose own cost changed most\n"
                 "            +300          x: 100 → 400, 50.0% → 80.0% of the "
                 "total\n");
}

TEST(what_sampling_gives_by_chance_is_not_a_change)
{
    expect_words("types cpu/nanoseconds\n"
                 "period cpu/nanoseconds 10\n"
                 "main;a -1000" BASE "main;b -1000" BASE "main;a 1100\n"
                 "main;b 900\n",
                 "cpu: 2us before, 2us after\n"
                 "No place changed by more than chance and -nodefraction "
                 "allow.\n"
                 "\n"
                 "Functions whose own cost changed most\n"
                 "          +100ns          a: 1us → 1.10us, 50.0% → 55.0% of "
                 "the total\n"
                 "          -100ns          b: 1us → 900ns, 50.0% → 45.0% of "
                 "the total\n");
}

TEST(without_a_period_the_count_of_samples_tells_what_chance_is)
{
    expect_words("types samples/count cpu/nanoseconds\n"
                 "main;a -100 -1000" BASE "main;b -100 -1000" BASE
                 "main;a 110 1100\n"
                 "main;b 90 900\n",
                 "cpu: 2us before, 2us after\n"
                 "No place changed by more than chance and -nodefraction "
                 "allow.\n"
                 "\n"
                 "Functions whose own cost changed most\n"
                 "          +100ns          a: 1us → 1.10us, 50.0% → 55.0% of "
                 "the total\n"
                 "          -100ns          b: 1us → 900ns, 50.0% → 45.0% of "
                 "the total\n");
}

TEST(without_a_base_there_is_nothing_to_explain)
{
    expect_words("types n/count\nmain 1\n",
                 "explain compares with a base profile: give one with "
                 "-diff_base");
}

static struct growth growth(enum growth_of of, const char *text,
                            const char *want)
{
    struct profile *p = sketch(text);
    struct arena *a = arena_new();
    struct buf words = BUF_INIT(BUF_NO_LIMIT);
    struct report_config c;
    struct growth g = {0};
    struct error err;

    config_init(&c);
    EXPECT(report_growth(p, &c, of, a, &g, &err));
    growth_describe(&g, &words);
    EXPECT_STR(buf_str(&words), want);
    g.name = STR("");
    buf_release(&words);
    arena_free(a);
    profile_free(p);
    return g;
}

static bool is_near(double a, double b)
{
    return fabs(a - b) < 1e-9;
}

TEST(growth_is_that_of_the_total_when_that_is_larger)
{
    struct growth g = growth(GROWTH_OF_COST,
                             "types n/count\n"
                             "main;a -50" BASE "main;b -50" BASE "main;a 60\n"
                             "main;b 65\n",
                             "total grew by 25.00%");

    EXPECT(g.of_total && is_near(g.grew, 0.25));
    EXPECT(is_near(g.before, 100) && is_near(g.after, 125));
}

TEST(growth_of_a_function_is_that_of_its_cost)
{
    struct growth g = growth(GROWTH_OF_COST,
                             "types n/count\n"
                             "main;a -50" BASE "main;b -50" BASE "main;a 70\n"
                             "main;b 10\n",
                             "cost of a grew by 20.00% of the base's total, "
                             "from 50.00% to 70.00%");

    EXPECT(!g.of_total && g.own && is_near(g.grew, 0.2));
    EXPECT(is_near(g.before, 0.5) && is_near(g.after, 0.7));
}

TEST(an_improvement_is_no_growth_of_cost_but_one_of_shares)
{
    static const char text[] =
        "types n/count\n"
        "main;a;x -400" BASE "main;b -100" BASE "main;a;x 100\n"
        "main;b 100\n";
    struct growth g = growth(GROWTH_OF_COST, text,
                             "cost of a grew by 0.00% of the base's total, "
                             "from 0.00% to 0.00%");

    EXPECT(is_near(g.grew, 0));
    growth(GROWTH_OF_SHARES, text,
           "share of b grew by 30.00 points, from 20.00% to 50.00%");
}

TEST(shares_do_not_see_that_everything_doubled)
{
    static const char text[] =
        "types n/count\n"
        "main;a -50" BASE "main;b -50" BASE "main;a 100\nmain;b 100\n";

    EXPECT(
        is_near(growth(GROWTH_OF_COST, text, "total grew by 100.00%").grew, 1));
    EXPECT(is_near(growth(GROWTH_OF_SHARES, text,
                          "share of a grew by 0.00 points, from 50.00% to "
                          "50.00%")
                       .grew,
                   0));
}

TEST(growth_that_is_spread_over_callees_is_seen_in_the_caller)
{
    static const char text[] = "types n/count\n"
                               "main;f;a -10" BASE "main;f;b -10" BASE
                               "main;rest -80" BASE "main;f;a 30\n"
                               "main;f;b 30\n"
                               "main;rest 40\n";

    growth(GROWTH_OF_COST, text,
           "cost of f and what it calls grew by 40.00% of the base's total, "
           "from 20.00% to 60.00%");
    growth(GROWTH_OF_SHARES, text,
           "share of f and what it calls grew by 40.00 points, from 20.00% to "
           "60.00%");
}

TEST(growth_from_nothing_is_without_limit)
{
    struct growth g = growth(GROWTH_OF_COST, "types n/count\nmain 7\n",
                             "total grew from nothing");

    EXPECT(isinf(g.grew));
}

TEST(growth_of_equal_profiles_is_none)
{
    struct growth g = growth(GROWTH_OF_COST,
                             "types n/count\n"
                             "main;a -50" BASE "main;a 50\n",
                             "total grew by 0.00%");

    EXPECT(is_near(g.grew, 0));
}

TEST_MAIN
