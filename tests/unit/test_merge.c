#include "test.h"

#include "profile/check.h"
#include "profile/diff.h"
#include "profile/encode.h"
#include "profile/merge.h"
#include "profile/scale.h"
#include "random_profile.h"
#include "same_bytes.h"
#include "sketch.h"

/* The merge of up to three sketches or profiles; NULL ends the list. */
static struct profile *merge_profiles(struct profile *a, struct profile *b,
                                      struct profile *c)
{
    struct profile *list[] = {a, b, c};
    struct error err;
    struct profile *p = profile_merge(list, c ? 3 : b ? 2 : 1, &err);

    if (!p)
        printf("# %s\n", err.text);
    return p;
}

static struct profile *merge(const char *a, const char *b, const char *c)
{
    struct profile *x = sketch(a), *y = b ? sketch(b) : NULL;
    struct profile *z = c ? sketch(c) : NULL;
    struct profile *p = merge_profiles(x, y, z);

    profile_free(x);
    profile_free(y);
    profile_free(z);
    return p;
}

TEST(equal_samples_are_added_and_keep_their_first_place)
{
    struct profile *p = merge("types x/count y/count\n"
                              "main;a 1 10\n"
                              "main;b 2 20\n"
                              "main;a 3 30\n",
                              "types x/count y/count\n"
                              "main;c 4 40\n"
                              "main;b 5 50\n",
                              NULL);

    EXPECT_SKETCH(p, "main;a 4 40\n"
                     "main;b 7 70\n"
                     "main;c 4 40\n");
    EXPECT(p->locations.n == 4 && p->functions.n == 4);
    profile_free(p);
}

TEST(values_wrap)
{
    struct profile *p = merge("types x/count\na 9223372036854775807\n",
                              "types x/count\na 2\n", NULL);

    EXPECT(p->values[0] == INT64_MIN + 1);
    profile_free(p);
}

TEST(labels_keep_samples_apart)
{
    struct profile *p = merge("types x/count\n"
                              "a 1 k=v\n"
                              "a 2 k=w\n"
                              "a 3 n:1\n"
                              "a 4 n:1kb\n"
                              "a 5 k=v k=w\n"
                              "a 6\n",
                              "types x/count\n"
                              "a 10 k=w k=v\n"
                              "a 20 k=v\n"
                              "a 30 n:1\n"
                              "a 40 n:1kb\n"
                              "a 50 n:1kb k=v\n",
                              NULL);

    EXPECT_SKETCH(p, "a 21 k=v\n"
                     "a 2 k=w\n"
                     "a 33 n:1\n"
                     "a 44 n:1kb\n"
                     "a 5 k=v k=w\n"
                     "a 6\n"
                     "a 10 k=w k=v\n"
                     "a 50 k=v n:1kb\n");
    profile_free(p);
}

TEST(everything_is_numbered_by_first_use_and_the_unused_goes)
{
    struct profile *p = merge("types x/count\n"
                              "map main 1-2 m\n"
                              "map other 3-4 o\n"
                              "map unused 5-6 u\n"
                              "zero;one 0\n"
                              "a;other!b<c 1\n",
                              NULL, NULL);

    EXPECT_SKETCH(p, "a;other!b<c 1\n");
    EXPECT(p->locations.n == 2 && p->locations.v[0].id == 1 &&
           p->locations.v[1].id == 2);
    EXPECT(p->functions.n == 3);
    EXPECT_STR(profile_str(p, p->functions.v[0].name), "c");
    EXPECT(p->functions.v[2].id == 3);
    EXPECT(p->mappings.n == 2); /* the first one stays first */
    EXPECT_STR(profile_str(p, p->mappings.v[0].file), "main");
    EXPECT_STR(profile_str(p, p->mappings.v[1].file), "other");
    EXPECT(p->mappings.v[1].id == 2);
    profile_free(p);
}

TEST(the_first_mapping_may_come_from_a_later_profile)
{
    struct profile *p = merge("types x/count\na 1\n",
                              "types x/count\n"
                              "map main 1-2\n"
                              "map other 3-4\n"
                              "other!b 1\n",
                              NULL);

    EXPECT(p->mappings.n == 2);
    EXPECT_STR(profile_str(p, p->mappings.v[0].file), "main");
    profile_free(p);
}

TEST(samples_that_sum_up_to_zero_go_with_all_they_used)
{
    struct profile *p = merge("types x/count y/count\n"
                              "map app 1-2\n"
                              "map lib 3-4\n"
                              "lib!gone<inlined 1 2\n"
                              "main;stays 3 4\n",
                              "types x/count y/count\n"
                              "map lib 3-4\n"
                              "lib!gone<inlined -1 -2\n"
                              "main;stays 1 1\n"
                              "main;half -7 1\n",
                              NULL);

    EXPECT_SKETCH(p, "main;stays 4 5\n"
                     "main;half -7 1\n");
    EXPECT(p->locations.n == 3 && p->locations.v[2].id == 3);
    EXPECT(p->functions.n == 3 && p->lines.n == 3);
    EXPECT(p->mappings.n == 1);
    profile_free(p);
}

TEST(a_sum_that_was_zero_for_a_while_stays)
{
    struct profile *p = merge("types x/count\na 1\nb 1\n",
                              "types x/count\na -1\n", "types x/count\na 7\n");

    EXPECT_SKETCH(p, "a 7\nb 1\n");
    profile_free(p);
}

TEST(mappings_are_equal_by_size_offset_and_build_id_or_file)
{
    struct profile *p = merge("types x/count\n"
                              "map app 1000-5000 id\n"
                              "map lib 8000-9000\n"
                              "app!#1234 1\n"
                              "lib!#8100 2\n",
                              "types x/count\n"
                              "map moved 101000-104f00 id\n"
                              "map lib 7000-8000\n"
                              "map bigger 1000-6000 id\n"
                              "moved!#101234 10\n"
                              "lib!#7100 20\n"
                              "bigger!#1234 30\n",
                              NULL);

    EXPECT_SKETCH(p, "app!#1234 11\n"
                     "lib!#8100 22\n"
                     "bigger!#1234 30\n");
    EXPECT(p->mappings.n == 3 && p->locations.n == 3);
    profile_free(p);
}

TEST(mappings_without_any_name_are_one)
{
    struct profile *a = sketch("types x/count\nmap m 0-0\nm! 1\n");
    struct profile *b = sketch("types x/count\nmap m 0-0\nm! 2\n");
    struct profile *p;

    a->mappings.v[0].file = 0;
    b->mappings.v[0].file = 0;
    b->mappings.v[0].has_functions = true;
    p = merge_profiles(a, b, NULL);
    EXPECT_SKETCH(p, "! 3\n");
    EXPECT(p->mappings.n == 1 && !p->mappings.v[0].has_functions);
    profile_free(a);
    profile_free(b);
    profile_free(p);
}

TEST(locations_differ_by_address_lines_and_folding)
{
    struct profile *p = sketch("types x/count\n"
                               "a 1\n"
                               "a:1 2\n"
                               "a#5 3\n"
                               "a+ 4\n"
                               "a@f 5\n"
                               "a<a 6\n"
                               "a++ 7\n");
    struct profile *merged;

    p->locations.v[6].is_folded = true;
    p->locations.v[6].n_lines = 1;
    merged = merge_profiles(p, NULL, NULL);
    EXPECT_SKETCH(merged, "a 5\n"
                          "a:1 2\n"
                          "a#5 3\n"
                          "a@f 5\n"
                          "a<a 6\n"
                          "a+ 7\n");
    EXPECT(merged->locations.n == 6);
    profile_free(p);
    profile_free(merged);
}

TEST(only_the_outermost_lines_column_counts)
{
    struct profile *p = sketch("types x/count\n"
                               "a<b 1\n"
                               "a<b+ 2\n"
                               "a<b++ 4\n");
    struct profile *merged;

    /* The sketch puts one + into the name; here it only tells them apart. */
    p->lines.v[4].function = p->lines.v[0].function;
    p->lines.v[2].column = 7; /* of b: inlined */
    p->lines.v[5].column = 7; /* of a: outermost */
    merged = merge_profiles(p, NULL, NULL);
    EXPECT_SKETCH(merged, "a<b 3\na<b 4\n");
    EXPECT(merged->lines.v[0].column == 0);
    profile_free(p);
    profile_free(merged);
}

TEST(headers_are_combined)
{
    struct profile *p = merge("types x/count\n"
                              "period cpu/ns 5\n"
                              "time 300\n"
                              "duration 10\n"
                              "comment one\n"
                              "comment one\n"
                              "drop d1\n",
                              "types x/count\n"
                              "period cpu/ns 9\n"
                              "time 200\n"
                              "duration 20\n"
                              "comment two\n"
                              "comment one\n"
                              "default x\n"
                              "drop d2\n"
                              "keep k2\n",
                              "types x/count\n"
                              "period cpu/ns 7\n"
                              "time 400\n"
                              "doc url\n"
                              "comment three\n"
                              "default y\n");

    EXPECT(p->period == 9 && p->time_ns == 200 && p->duration_ns == 30);
    EXPECT_STR(profile_str(p, p->period_type.type), "cpu");
    EXPECT_STR(profile_str(p, p->period_type.unit), "ns");
    EXPECT_STR(profile_str(p, p->drop_frames), "d1");
    EXPECT(p->keep_frames == 0);
    EXPECT_STR(profile_str(p, p->default_type), "x");
    EXPECT_STR(profile_str(p, p->doc_url), "url");
    EXPECT(p->comments.n == 3);
    EXPECT_STR(profile_str(p, p->comments.v[0]), "one");
    EXPECT_STR(profile_str(p, p->comments.v[2]), "three");
    profile_free(p);
}

TEST(a_later_time_of_zero_counts)
{
    struct profile *p =
        merge("types x/count\ntime 300\n", "types x/count\n", NULL);

    EXPECT(p->time_ns == 0);
    profile_free(p);
    p = merge("types x/count\n", "types x/count\ntime 300\n", NULL);
    EXPECT(p->time_ns == 300);
    profile_free(p);
}

static void expect_error(int line, const char *a, const char *b,
                         const char *want)
{
    struct profile *list[] = {sketch(a), sketch(b)};
    struct error err = {""};

    EXPECT(!profile_merge(list, 2, &err));
    test_expect_str(__FILE__, line, str_from(err.text), str_from(want));
    profile_free(list[0]);
    profile_free(list[1]);
}

#define EXPECT_MERGE_ERROR(a, b, want) expect_error(__LINE__, (a), (b), (want))

TEST(different_types_cannot_be_merged)
{
    struct error err;

    EXPECT(!profile_merge(NULL, 0, &err));
    EXPECT_STR(str_from(err.text), "no profiles to merge");
    EXPECT_MERGE_ERROR("types x/count\nperiod cpu/ms 1\n",
                       "types x/count\nperiod cpu/ns 1\n",
                       "incompatible period types &{cpu ms 0 0} and "
                       "&{cpu ns 0 0}");
    EXPECT_MERGE_ERROR("types x/count\n", "types x/count y/ns\n",
                       "incompatible sample types [x/count] and "
                       "[x/count y/ns]");
    EXPECT_MERGE_ERROR("types x/count y/ms\n", "types x/count y/ns\n",
                       "incompatible sample types [x/count y/ms] and "
                       "[x/count y/ns]");
}

/*
 * Properties, over random profiles.
 */

static bool is_sound(const struct profile *p)
{
    struct error err;

    if (profile_check(p, &err))
        return true;
    printf("# %s\n", err.text);
    return false;
}

#define ROUNDS 200

TEST(merging_is_associative)
{
    uint64_t seed = random_seed();

    for (int i = 0; i < ROUNDS && !test_failed; i++) {
        struct profile *a = random_profile(&seed, 1);
        struct profile *b = random_profile(&seed, 1);
        struct profile *c = random_profile(&seed, 1);
        struct profile *abc = merge_profiles(a, b, c);
        struct profile *ab = merge_profiles(a, b, NULL);
        struct profile *ab_c = merge_profiles(ab, c, NULL);
        struct profile *bc = merge_profiles(b, c, NULL);
        struct profile *a_bc = merge_profiles(a, bc, NULL);

        EXPECT(is_sound(abc));
        EXPECT(same_bytes(abc, ab_c));
        EXPECT(same_bytes(abc, a_bc));
        for (struct profile **p =
                 (struct profile *[]){a, b, c, abc, ab, ab_c, bc, a_bc, NULL};
             *p; p++)
            profile_free(*p);
    }
}

TEST(a_merged_profile_merges_to_itself)
{
    uint64_t seed = random_seed();

    for (int i = 0; i < ROUNDS && !test_failed; i++) {
        struct profile *p = random_profile(&seed, -3);
        struct profile *once = merge_profiles(p, NULL, NULL);
        struct profile *twice = merge_profiles(once, NULL, NULL);

        EXPECT(is_sound(once));
        EXPECT(same_bytes(once, twice));
        profile_free(p);
        profile_free(once);
        profile_free(twice);
    }
}

TEST(a_profile_minus_itself_has_no_samples)
{
    uint64_t seed = random_seed();

    for (int i = 0; i < ROUNDS && !test_failed; i++) {
        struct profile *p = random_profile(&seed, -3);
        struct profile *minus = profile_copy(p), *diff;

        profile_scale(minus, -1);
        diff = merge_profiles(p, minus, NULL);
        EXPECT(diff->n_samples == 0);
        EXPECT(diff->locations.n == 0 && diff->functions.n == 0);
        EXPECT(diff->mappings.n == (p->mappings.n > 0));
        profile_free(p);
        profile_free(minus);
        profile_free(diff);
    }
}

static int64_t sum_of(const struct profile *p, size_t type)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < p->n_samples; i++)
        sum += (uint64_t)p->values[i * p->types.n + type];
    return (int64_t)sum;
}

TEST(comments_that_differ_say_whose_they_are)
{
    struct profile *p = sketch("types n/count\n"
                               "comment source: perf\n"
                               "comment cpu: 5 ns\n"
                               "comment mine\n"
                               "main 7\n");
    struct profile *base = sketch("types n/count\n"
                                  "comment source: perf\n"
                                  "comment cpu: 6 ns\n"
                                  "comment only: here\n"
                                  "main 3\n");
    struct buf got = BUF_INIT(1000);
    struct error err;
    struct profile *d = profile_diff(p, base, (struct diff_options){0}, &err);

    for (size_t i = 0; i < d->comments.n; i++) {
        buf_add(&got, profile_str(d, d->comments.v[i]));
        buf_add_char(&got, '\n');
    }
    EXPECT_STR(buf_str(&got), "source: perf\n"
                              "profile: cpu: 5 ns\n"
                              "mine\n"
                              "base: cpu: 6 ns\n"
                              "only: here\n");
    buf_release(&got);
    profile_free(d);
}

TEST(merging_keeps_the_totals)
{
    uint64_t seed = random_seed();

    for (int i = 0; i < ROUNDS && !test_failed; i++) {
        struct profile *a = random_profile(&seed, -3);
        struct profile *b = random_profile(&seed, -3);
        struct profile *p = merge_profiles(a, b, NULL);

        for (size_t t = 0; t < p->types.n; t++)
            EXPECT(sum_of(p, t) == sum_of(a, t) + sum_of(b, t));
        profile_free(a);
        profile_free(b);
        profile_free(p);
    }
}

TEST_MAIN
