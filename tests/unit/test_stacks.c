#include "report.h"
#include "sketch.h"

/*
 * Formats that are made of stacks: collapsed stacks and speedscope's file.
 */

static void expect_stacks(const char *text, enum report_format format,
                          struct report_config config, const char *want)
{
    expect_report(sketch(text), format, config, want);
}

TEST(folded_merges_equal_stacks_and_sorts_them)
{
    expect_stacks("types samples/count cpu/nanoseconds\n"
                  "main;b 1 10\n"
                  "main;a;z 1 5\n"
                  "main 1 1\n"
                  "main;b+ 1 7\n"
                  "- 1 100\n"
                  "main;zero 1 0\n",
                  REPORT_FOLDED, defaults(),
                  "main 1\n"
                  "main;a;z 5\n"
                  "main;b 17\n");
}

TEST(folded_shows_inlined_frames_as_frames)
{
    expect_stacks("types n/count\n"
                  "main;work<add<carry 3\n",
                  REPORT_FOLDED, defaults(), "main;work;add;carry 3\n");
}

TEST(folded_tells_unsymbolized_frames_by_their_place_in_the_file)
{
    expect_stacks("types n/count\n"
                  "map /lib/libx.so 1000-5000\n"
                  "/lib/libx.so!#1010;/lib/libx.so!#1020 1\n"
                  "!#abc 2\n",
                  REPORT_FOLDED, defaults(),
                  "0xabc 2\n"
                  "[libx.so]+0x10;[libx.so]+0x20 1\n");
}

TEST(folded_names_hold_no_separator)
{
    struct profile *p = sketch("types n/count\nf 1\n");
    struct report_config c = defaults();
    struct report_request q = {.format = REPORT_FOLDED, .config = &c};
    struct buf out = BUF_INIT(BUF_NO_LIMIT);
    struct error err;

    p->functions.v[0].name = profile_intern(p, STR("op;\nx y"));
    EXPECT(report_write(p, &q, &out, &out, &err));
    EXPECT_STR(buf_str(&out), "op: x y 1\n");
    buf_release(&out);
    profile_free(p);
}

TEST(folded_with_a_base_has_before_and_after)
{
    expect_stacks("types n/count\n"
                  "main;same -5 pprof::base=true\n"
                  "main;gone -2 pprof::base=true\n"
                  "main;same 5\n"
                  "main;new 7\n",
                  REPORT_FOLDED, defaults(),
                  "main;gone 2 0\n"
                  "main;new 0 7\n"
                  "main;same 5 5\n");
}

TEST(folded_converts_to_a_unit_when_asked)
{
    struct report_config c = defaults();

    c.unit = STR("ms");
    expect_stacks("types cpu/nanoseconds\n"
                  "a 1500000\n"
                  "b 2000000\n",
                  REPORT_FOLDED, c, "a 1.5\nb 2\n");
}

TEST(folded_follows_granularity_and_mean)
{
    struct report_config c = defaults();

    c.granularity = STR("lines");
    c.mean = true;
    expect_stacks("types n/count delay/nanoseconds\n"
                  "main@m.c:3;f@f.c:7 2 10\n"
                  "main@m.c:3;f@f.c:7+ 2 20\n",
                  REPORT_FOLDED, c, "main m.c:3;f f.c:7 7\n");
}

TEST(speedscope_has_a_profile_for_each_sample_type)
{
    expect_stacks(
        "types samples/count cpu/nanoseconds\n"
        "map /bin/app 1000-5000\n"
        "main@m.c:3;f@f.c:7 2 10\n"
        "main@m.c:3 -1 20\n",
        REPORT_SPEEDSCOPE, defaults(),
        "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
        "\"exporter\":\"pprof-c\",\"name\":\"app\",\"activeProfileIndex\":1,"
        "\"shared\":{\"frames\":["
        "{\"name\":\"f\",\"file\":\"f.c\"},"
        "{\"name\":\"main\",\"file\":\"m.c\"}]},"
        "\"profiles\":["
        "{\"type\":\"sampled\",\"name\":\"samples\",\"unit\":\"none\","
        "\"samples\":[[1,0]],\"weights\":[2],"
        "\"startValue\":0,\"endValue\":2},"
        "{\"type\":\"sampled\",\"name\":\"cpu\",\"unit\":\"nanoseconds\","
        "\"samples\":[[1],[1,0]],\"weights\":[20,10],"
        "\"startValue\":0,\"endValue\":30}]}\n");
}

TEST(speedscope_has_only_frames_that_are_in_a_stack)
{
    struct report_config c = defaults();

    c.hide = STR("hidden");
    expect_stacks(
        "types n/count\n"
        "main;hidden 2\n",
        REPORT_SPEEDSCOPE, c,
        "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
        "\"exporter\":\"pprof-c\",\"name\":\"profile\","
        "\"activeProfileIndex\":0,"
        "\"shared\":{\"frames\":[{\"name\":\"main\"}]},"
        "\"profiles\":["
        "{\"type\":\"sampled\",\"name\":\"n\",\"unit\":\"none\","
        "\"samples\":[[0]],\"weights\":[2],"
        "\"startValue\":0,\"endValue\":2}]}\n");
}

TEST_MAIN
