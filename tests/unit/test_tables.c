#include "report.h"
#include "sketch.h"

/*
 * The table of -top in other clothes: JSON and Markdown.
 */
TEST(json_has_raw_numbers_and_what_they_are)
{
    expect_report(sketch("types samples/count cpu/nanoseconds\n"
                         "period cpu/nanoseconds 10000000\n"
                         "time 1500000000000000007\n"
                         "duration 10000000000\n"
                         "comment said\n"
                         "map /bin/app 1000-5000 b1d\n"
                         "main@m.c:3;f@f.c:7 1 1500000000\n"
                         "main@m.c:3 1 500000000\n"),
                  REPORT_JSON, defaults(),
                  "{\n"
                  "  \"format\": \"pprof-top\",\n"
                  "  \"version\": 1,\n"
                  "  \"profile\": {\n"
                  "    \"file\": \"app\",\n"
                  "    \"build_id\": \"b1d\",\n"
                  "    \"time\": \"2017-07-14T02:40:00.000000007Z\",\n"
                  "    \"duration_ns\": 10000000000,\n"
                  "    \"period\": 10000000,\n"
                  "    \"period_type\": \"cpu\",\n"
                  "    \"period_unit\": \"nanoseconds\",\n"
                  "    \"comments\": [\n"
                  "      \"said\"\n"
                  "    ]\n"
                  "  },\n"
                  "  \"type\": \"cpu\",\n"
                  "  \"unit\": \"nanoseconds\",\n"
                  "  \"difference\": false,\n"
                  "  \"sort\": \"flat\",\n"
                  "  \"granularity\": \"filefunctions\",\n"
                  "  \"filters\": {},\n"
                  "  \"total\": 2000000000,\n"
                  "  \"shown\": {\n"
                  "    \"rows\": 2,\n"
                  "    \"of\": 2,\n"
                  "    \"flat\": 2000000000,\n"
                  "    \"flat_percent\": 100\n"
                  "  },\n"
                  "  \"rows\": [\n"
                  "    {\n"
                  "      \"name\": \"f\",\n"
                  "      \"file\": \"f.c\",\n"
                  "      \"flat\": 1500000000,\n"
                  "      \"flat_percent\": 75,\n"
                  "      \"cum\": 1500000000,\n"
                  "      \"cum_percent\": 75,\n"
                  "      \"inline\": \"no\"\n"
                  "    },\n"
                  "    {\n"
                  "      \"name\": \"main\",\n"
                  "      \"file\": \"m.c\",\n"
                  "      \"flat\": 500000000,\n"
                  "      \"flat_percent\": 25,\n"
                  "      \"cum\": 2000000000,\n"
                  "      \"cum_percent\": 100,\n"
                  "      \"inline\": \"no\"\n"
                  "    }\n"
                  "  ]\n"
                  "}\n");
}

TEST(json_of_a_difference_has_signed_shares_and_names_filters)
{
    struct report_config c = defaults();

    c.granularity = STR("addresses");
    c.focus = STR("f");
    c.sort = STR("cum");
    c.trim = false;
    expect_report(sketch("types n/count\n"
                         "map /bin/app 1000-5000\n"
                         "/bin/app!f<g@g.c:7#1a0 -4 pprof::base=true\n"
                         "/bin/app!f<g@g.c:7#1a0 1\n"),
                  REPORT_JSON, c,
                  "{\n"
                  "  \"format\": \"pprof-top\",\n"
                  "  \"version\": 1,\n"
                  "  \"profile\": {\n"
                  "    \"file\": \"app\"\n"
                  "  },\n"
                  "  \"type\": \"n\",\n"
                  "  \"unit\": \"count\",\n"
                  "  \"difference\": true,\n"
                  "  \"sort\": \"cum\",\n"
                  "  \"granularity\": \"addresses\",\n"
                  "  \"filters\": {\n"
                  "    \"focus\": \"f\"\n"
                  "  },\n"
                  "  \"total\": 4,\n"
                  "  \"shown\": {\n"
                  "    \"rows\": 2,\n"
                  "    \"of\": 2,\n"
                  "    \"flat\": -3,\n"
                  "    \"flat_percent\": -75\n"
                  "  },\n"
                  "  \"rows\": [\n"
                  "    {\n"
                  "      \"name\": \"f\",\n"
                  "      \"address\": \"0x1a0\",\n"
                  "      \"flat\": 0,\n"
                  "      \"flat_percent\": 0,\n"
                  "      \"cum\": -3,\n"
                  "      \"cum_percent\": -75,\n"
                  "      \"inline\": \"no\"\n"
                  "    },\n"
                  "    {\n"
                  "      \"name\": \"g\",\n"
                  "      \"file\": \"g.c\",\n"
                  "      \"line\": 7,\n"
                  "      \"address\": \"0x1a0\",\n"
                  "      \"flat\": -3,\n"
                  "      \"flat_percent\": -75,\n"
                  "      \"cum\": -3,\n"
                  "      \"cum_percent\": -75,\n"
                  "      \"inline\": \"all\"\n"
                  "    }\n"
                  "  ]\n"
                  "}\n");
}

TEST(markdown_is_a_table_with_numbers_to_the_right)
{
    expect_report(
        sketch("types cpu/nanoseconds\n"
               "duration 10000000000\n"
               "map /bin/app 1000-5000\n"
               "main;f 1500000000\n"
               "main<in 500000000\n"),
        REPORT_MARKDOWN, defaults(),
        "**cpu** of `app`: 2000ms total in 10s\n"
        "\n"
        "|   flat |  flat% |   sum% |    cum |   cum% | function      |\n"
        "|-------:|-------:|-------:|-------:|-------:|:--------------|\n"
        "| 1500ms | 75.00% | 75.00% | 1500ms | 75.00% | `f`           |\n"
        "|  500ms | 25.00% |   100% |  500ms | 25.00% | `in` (inline) |\n"
        "|      0 |     0% |   100% | 2000ms |   100% | `main`        |\n");
}

TEST(markdown_escapes_what_would_end_a_cell_or_code)
{
    struct profile *p = sketch("types n/count\na 2\nb 1\n");

    p->functions.v[0].name = profile_intern(p, STR("operator|(A,\nB)"));
    p->functions.v[1].name = profile_intern(p, STR("tick`ed"));
    expect_report(
        p, REPORT_MARKDOWN, defaults(),
        "**n**: 3 total\n"
        "\n"
        "| flat |  flat% |   sum% | cum |   cum% | function           |\n"
        "|-----:|-------:|-------:|----:|-------:|:-------------------|\n"
        "|    2 | 66.67% | 66.67% |   2 | 66.67% | `operator\\|(A, B)` |\n"
        "|    1 | 33.33% |   100% |   1 | 33.33% | `` tick`ed ``      |\n");
}

TEST(markdown_with_a_base_shows_what_changed)
{
    struct report_config c = defaults();

    c.nodecount = 2;
    expect_report(sketch("types n/count\n"
                         "a -4 pprof::base=true\n"
                         "b -4 pprof::base=true\n"
                         "a 8\n"
                         "b 2\n"
                         "c 1\n"),
                  REPORT_MARKDOWN, c,
                  "**n**: 8 → 11 (+37.50%)\n"
                  "\n"
                  "| flat ± | flat% ± |  sum% ± | cum ± |  cum% ± | "
                  "function |\n"
                  "|-------:|--------:|--------:|------:|--------:|:"
                  "---------|\n"
                  "|     +4 | +50.00% | +50.00% |    +4 | +50.00% | "
                  "`a`      |\n"
                  "|     -2 | -25.00% | +25.00% |    -2 | -25.00% | "
                  "`b`      |\n"
                  "\n"
                  "The top 2 of 3.\n");
}

TEST_MAIN
