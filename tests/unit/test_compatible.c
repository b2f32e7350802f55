#include "test.h"

#include "profile/compatible.h"
#include "profile/scale.h"
#include "profile/set_label.h"
#include "sketch.h"

/* What the types of a profile are: "x/count y/ns [y]". */
static void expect_types(int line, const struct profile *p, const char *want)
{
    struct buf b = BUF_INIT(1000);

    for (size_t i = 0; i < p->types.n; i++) {
        buf_add(&b, profile_str(p, p->types.v[i].type));
        buf_add_char(&b, '/');
        buf_add(&b, profile_str(p, p->types.v[i].unit));
        buf_add_char(&b, ' ');
    }
    buf_addf(&b, "[%" STR_FMT "]", STR_ARG(profile_str(p, p->default_type)));
    test_expect_str(__FILE__, line, buf_str(&b), str_from(want));
    buf_release(&b);
}

#define EXPECT_TYPES(p, want) expect_types(__LINE__, (p), (want))

TEST(common_types_are_kept_in_the_order_of_the_first)
{
    struct profile *list[] = {
        sketch("types a/count b/count c/count d/count\n"
               "default d\n"
               "f 1 2 3 4\n"
               "g 5 6 7 8\n"),
        sketch("types d/count x/count a/count\n"
               "default x\n"
               "f 10 20 30\n"),
        sketch("types a/count d/count\ndefault zz\nf 100 200\n"),
    };
    struct error err;

    EXPECT(profile_make_compatible(list, 3, &err));
    EXPECT_TYPES(list[0], "a/count d/count [d]");
    EXPECT_SKETCH(list[0], "f 1 4\ng 5 8\n");
    EXPECT_TYPES(list[1], "a/count d/count [a]");
    EXPECT_SKETCH(list[1], "f 30 10\n");
    EXPECT_TYPES(list[2], "a/count d/count [zz]");
    EXPECT_SKETCH(list[2], "f 100 200\n");
    for (int i = 0; i < 3; i++)
        profile_free(list[i]);
}

TEST(a_type_that_occurs_twice_is_not_common)
{
    struct profile *p = sketch("types a/count a/count b/count\nf 1 2 3\n");
    struct error err;

    EXPECT(profile_make_compatible(&p, 1, &err));
    EXPECT_TYPES(p, "b/count [b]");
    EXPECT_SKETCH(p, "f 3\n");
    profile_free(p);
}

TEST(the_finest_unit_is_used)
{
    struct profile *list[] = {
        sketch("types t/ms s/kb\nperiod cpu/ms 3\nf 2 1\n"),
        sketch("types t/s s/bytes\nperiod cpu/ns 7\nf 5 1000\n"),
    };
    struct error err;

    EXPECT(profile_make_compatible(list, 2, &err));
    EXPECT_TYPES(list[0], "t/ms s/bytes []");
    EXPECT_TYPES(list[1], "t/ms s/bytes []");
    EXPECT_SKETCH(list[0], "f 2 1024\n");
    EXPECT_SKETCH(list[1], "f 5000 1000\n");
    EXPECT(list[0]->period == 3000000 && list[1]->period == 7);
    EXPECT_STR(profile_str(list[0], list[0]->period_type.unit), "ns");
    profile_free(list[0]);
    profile_free(list[1]);
}

TEST(spellings_of_a_unit_become_the_first)
{
    struct profile *list[] = {
        sketch("types t/ms\nf 2\n"),
        sketch("types t/milliseconds\nf 5\n"),
    };
    struct error err;

    EXPECT(profile_make_compatible(list, 2, &err));
    EXPECT_TYPES(list[1], "t/ms []");
    EXPECT_SKETCH(list[1], "f 5\n");
    profile_free(list[0]);
    profile_free(list[1]);
}

static void expect_error(int line, const char *a, const char *b,
                         const char *want)
{
    struct profile *list[] = {sketch(a), sketch(b)};
    struct error err = {""};

    EXPECT(!profile_make_compatible(list, 2, &err));
    test_expect_str(__FILE__, line, str_from(err.text), str_from(want));
    profile_free(list[0]);
    profile_free(list[1]);
}

#define EXPECT_COMPATIBLE_ERROR(a, b, want)                                    \
    expect_error(__LINE__, (a), (b), (want))

TEST(what_cannot_be_made_alike_is_told)
{
    EXPECT_COMPATIBLE_ERROR("types x/count\n", "types y/count\n",
                            "profiles have empty common sample type list");
    EXPECT_COMPATIBLE_ERROR(
        "types x/count\nperiod cpu/milliseconds 1\n",
        "types x/count\nperiod cpu/bytes 1\n",
        "period type: incompatible types: {cpu milliseconds 0 0} "
        "{cpu bytes 0 0}");
    EXPECT_COMPATIBLE_ERROR("types x/count y/s\n", "types x/count y/kb\n",
                            "sample types: incompatible types: {y s 0 0} "
                            "{y kb 0 0}");
    EXPECT_COMPATIBLE_ERROR("types a/n a/n\n", "types b/n\n",
                            "\"a\" sample type is not found in profile");
}

TEST(scaling_rounds_half_away_and_drops_zeros)
{
    struct profile *p = sketch("types x/count y/count\n"
                               "a 1 3\n"
                               "b -1 -3\n"
                               "c 0 0\n");

    profile_scale(p, 0.5);
    EXPECT_SKETCH(p, "a 1 2\nb -1 -2\n");
    profile_scale(p, 1);
    EXPECT_SKETCH(p, "a 1 2\nb -1 -2\n");
    profile_scale(p, 1e30);
    EXPECT(p->values[0] == INT64_MIN);
    profile_scale(p, 0);
    EXPECT_SKETCH(p, "");
    profile_free(p);
}

TEST(values_with_ratio_one_do_not_keep_a_sample_alive)
{
    struct profile *p = sketch("types x/count y/count\n"
                               "a 5 0\n"
                               "b 5 1\n");

    profile_scale_n(p, (const double[]){1, 2});
    EXPECT_SKETCH(p, "b 5 2\n");
    profile_free(p);
}

TEST(normalising_makes_totals_equal)
{
    struct profile *p = sketch("types x/count y/count z/count\n"
                               "a 1 10 4\n"
                               "b 3 10 -4\n");
    struct profile *base = sketch("types x/count y/count z/count\n"
                                  "q 8 5 1\n");
    struct profile *other = sketch("types x/count\n");
    struct error err;

    EXPECT(profile_normalize(p, base, &err));
    EXPECT_SKETCH(p, "a 2 3 0\nb 6 3 0\n");
    EXPECT(!profile_normalize(p, other, &err));
    EXPECT_STR(str_from(err.text),
               "incompatible sample types [x/count y/count z/count] and "
               "[x/count]");
    profile_free(p);
    profile_free(base);
    profile_free(other);
}

TEST(labels_are_set_and_removed_on_every_sample)
{
    struct profile *p = sketch("types x/count\n"
                               "a 1 a=1 z=2 m:5\n"
                               "b 2\n"
                               "c 3 m=old m=older n=1\n"
                               "d 4 m:5\n");

    profile_set_label(p, STR("m"), STR("new"));
    EXPECT_SKETCH(p, "a 1 a=1 m=new z=2 m:5\n"
                     "b 2 m=new\n"
                     "c 3 m=new n=1\n"
                     "d 4 m=new m:5\n");
    profile_remove_label(p, STR("m"));
    EXPECT_SKETCH(p, "a 1 a=1 z=2 m:5\n"
                     "b 2\n"
                     "c 3 n=1\n"
                     "d 4 m:5\n");
    profile_remove_label(p, STR("never seen"));
    EXPECT(p->n_samples == 4);
    profile_free(p);
}

TEST_MAIN
