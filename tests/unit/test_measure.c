#include "test.h"

#include "profile/measure.h"
#include "sketch.h"

static void expect_label(int line, int64_t value, const char *from,
                         const char *to, const char *want)
{
    struct buf b = BUF_INIT(1000);

    measure_label(&b, value, str_from(from), str_from(to));
    test_expect_str(__FILE__, line, buf_str(&b), str_from(want));
    buf_release(&b);
}

#define EXPECT_LABEL(value, from, to, want)                                    \
    expect_label(__LINE__, (value), (from), (to), (want))

static void expect_percentage(int line, int64_t value, int64_t total,
                              const char *want)
{
    struct buf b = BUF_INIT(100);

    measure_percentage(&b, value, total);
    test_expect_str(__FILE__, line, buf_str(&b), str_from(want));
    buf_release(&b);
}

#define EXPECT_PERCENTAGE(value, total, want)                                  \
    expect_percentage(__LINE__, (value), (total), (want))

TEST(a_target_unit_of_the_family_is_used)
{
    EXPECT_LABEL(1500, "bytes", "kb", "1.46kB");
    EXPECT_LABEL(1, "kilobytes", "B", "1024B");
    EXPECT_LABEL(1, "hour", "s", "3600s");
    EXPECT_LABEL(90, "s", "hrs", "0.03hrs");
    EXPECT_LABEL(1, "GCU", "milligcu", "1000m*GCU");
    EXPECT_LABEL(3, "mbyte", "gigabyte", "0");
}

TEST(any_other_target_means_the_usual_unit)
{
    EXPECT_LABEL(1500, "ms", "kb", "1.50s");
    EXPECT_LABEL(2048, "kb", "s", "2097152B");
    EXPECT_LABEL(2048, "kb", "", "2097152B");
    EXPECT_LABEL(7, "kilogcu", "count", "7000GCU");
}

TEST(auto_takes_the_largest_unit_that_gives_one)
{
    EXPECT_LABEL(999, "ns", "auto", "999ns");
    EXPECT_LABEL(1000, "ns", "minimum", "1us");
    EXPECT_LABEL(3599, "s", "auto", "3599s");
    EXPECT_LABEL(3600, "s", "auto", "1hrs");
    EXPECT_LABEL(1023, "bytes", "auto", "1023B");
    EXPECT_LABEL(1048576, "bytes", "auto", "1MB");
    EXPECT_LABEL(1, "petabytes", "auto", "1PB");
    EXPECT_LABEL(5000, "petabytes", "auto", "5000PB");
    EXPECT_LABEL(1, "nanogcu", "auto", "1n*GCU");
}

TEST(zero_has_no_unit)
{
    EXPECT_LABEL(0, "ns", "auto", "0");
    EXPECT_LABEL(0, "count", "widgets", "0");
    EXPECT_LABEL(-1, "ns", "s", "0");
    EXPECT_LABEL(1, "ns", "s", "0");
}

TEST(negative_values_mirror_positive_ones)
{
    EXPECT_LABEL(-1500, "ms", "auto", "-1.50s");
    EXPECT_LABEL(-2048, "bytes", "auto", "-2kB");
    EXPECT_LABEL(-7, "count", "minimum", "-7");
}

TEST(the_most_negative_value_gets_the_usual_unit)
{
    EXPECT_LABEL(INT64_MIN, "ns", "auto", "-9223372036.85s");
    EXPECT_LABEL(INT64_MIN, "count", "auto", "-9223372036854775808");
}

TEST(unknown_units_keep_the_number_and_take_the_targets_name)
{
    EXPECT_LABEL(5, "count", "widgets", "5widgets");
    EXPECT_LABEL(5, "widgets", "ms", "5ms");
    for (const char **to = (const char *[]){"count", "sample", "unit",
                                            "minimum", "auto", "", NULL};
         *to; to++)
        EXPECT_LABEL(5, "widgets", *to, "5");
}

TEST(spelling_ignores_case_and_a_plural_s)
{
    EXPECT_LABEL(1, "NanoSeconds", "ns", "1ns");
    EXPECT_LABEL(1024, "KBs", "MB", "1MB");
    EXPECT_LABEL(2, "HRS", "hour", "2hrs");
    EXPECT_LABEL(2, "secs", "s", "2s");
    EXPECT_LABEL(2, "bs", "s", "2s");   /* two letters keep their s: unknown */
    EXPECT_LABEL(2, "μs", "ns", "2ns"); /* three bytes lose it: unknown */
    EXPECT_LABEL(2, "a unit of great length", "ns", "2ns");
}

TEST(two_digits_are_rounded_from_the_exact_value)
{
    EXPECT_LABEL(1005, "ms", "s", "1s");
    EXPECT_LABEL(1125, "ms", "s", "1.12s");
    EXPECT_LABEL(1375, "ms", "s", "1.38s");
    EXPECT_LABEL(999999, "us", "s", "1s");
    EXPECT_LABEL(1500, "ms", "s", "1.50s");
    EXPECT_LABEL(INT64_MAX, "pb", "b", "10384593717069655257060992658440192B");
}

TEST(percentages_have_three_forms)
{
    EXPECT_PERCENTAGE(1, 1, "  100%");
    EXPECT_PERCENTAGE(9995, 10000, "  100%");
    EXPECT_PERCENTAGE(9994, 10000, "99.94%");
    EXPECT_PERCENTAGE(10005, 10000, "  100%");
    EXPECT_PERCENTAGE(10006, 10000, "100.06%");
    EXPECT_PERCENTAGE(-123, 1000, "12.30%");
    EXPECT_PERCENTAGE(1, 100, " 1.00%");
    EXPECT_PERCENTAGE(99, 10000, " 0.99%");
    EXPECT_PERCENTAGE(12, 1000000, "0.0012%");
    EXPECT_PERCENTAGE(12, 100000000, "1.2e-05%");
    EXPECT_PERCENTAGE(0, 5, "    0%");
    EXPECT_PERCENTAGE(5, 0, "    0%");
}

TEST(types_are_compatible_but_for_plural_and_unit_of_the_family)
{
    EXPECT(measure_compatible(STR("sample"), STR("count"), STR("samples"),
                              STR("count")));
    EXPECT(measure_compatible(STR("cpu"), STR("ms"), STR("cpu"),
                              STR("nanoseconds")));
    EXPECT(measure_compatible(STR("cpu"), STR(""), STR("cpu"), STR("")));
    EXPECT(
        !measure_compatible(STR("cpu"), STR("ms"), STR("cpu"), STR("bytes")));
    EXPECT(!measure_compatible(STR("cpu"), STR("ms"), STR("wall"), STR("ms")));
    EXPECT(
        !measure_compatible(STR("x"), STR("count"), STR("x"), STR("widgets")));
}

TEST(only_time_units_are_time)
{
    EXPECT(measure_is_time(STR("Milliseconds")));
    EXPECT(measure_is_time(STR("hr")));
    EXPECT(!measure_is_time(STR("bytes")));
    EXPECT(!measure_is_time(STR("minutes")));
    EXPECT(!measure_is_time(STR("")));
}

static const struct label_unit *unit_for(const struct label_units *units,
                                         const struct profile *p,
                                         const char *key)
{
    string_id id = profile_find_string(p, str_from(key));

    for (size_t i = 0; i < units->units.n; i++)
        if (units->units.v[i].key == id)
            return &units->units.v[i];
    return NULL;
}

TEST(the_first_unit_of_a_key_is_shown_and_the_others_listed)
{
    struct profile *p = sketch("types x/count\n"
                               "f 1 size:5\n"
                               "f 1 size:2kb size:7bytes\n"
                               "f 1 size:3mb lat:7ns size:4bytes\n");
    struct label_units units;

    label_units_find(&units, p->arena, p);
    EXPECT(units.units.n == 2);
    EXPECT_STR(unit_for(&units, p, "size")->unit, "kb");
    EXPECT_STR(unit_for(&units, p, "size")->others, "bytes, mb");
    EXPECT_STR(unit_for(&units, p, "lat")->unit, "ns");
    EXPECT_STR(unit_for(&units, p, "lat")->others, "");
    EXPECT_STR(label_units_of(&units, p, profile_intern(p, STR("size"))), "kb");
    profile_free(p);
}

TEST(a_key_without_units_suggests_one)
{
    struct profile *p = sketch("types x/count\n"
                               "f 1 request:5 bytes:7 alignment:8 text=a\n");
    struct label_units units;

    label_units_find(&units, p->arena, p);
    EXPECT(units.units.n == 3);
    EXPECT_STR(unit_for(&units, p, "request")->unit, "bytes");
    EXPECT_STR(unit_for(&units, p, "alignment")->unit, "bytes");
    EXPECT_STR(unit_for(&units, p, "bytes")->unit, "bytes");
    EXPECT_STR(label_units_of(&units, p, profile_intern(p, STR("zz"))), "zz");
    profile_free(p);
}

TEST_MAIN
