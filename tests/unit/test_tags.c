#include "test.h"

#include "profile/tag_frames.h"
#include "profile/tag_match.h"
#include "sketch.h"

/* Which samples match, by their first values: "1 3". */
static void expect_matches(int line, const char *profile,
                           const char *expression, const char *note,
                           const char *want)
{
    struct profile *p = sketch(profile);
    struct buf notes = BUF_INIT(1000), got = BUF_INIT(1000);
    struct label_units units;
    struct error err;
    struct tag_match *m;

    label_units_find(&units, p->arena, p);
    m = tag_match_new("tagfocus", str_from(expression), p, &units, &notes,
                      &err);
    if (m)
        profile_filter_tags(p, m, NULL);
    for (size_t i = 0; m && i < p->n_samples; i++)
        buf_addf(&got, "%s%lld", got.len ? " " : "",
                 (long long)p->values[i * p->types.n]);
    test_expect_str(__FILE__, line, buf_str(&got), str_from(want));
    test_expect_str(__FILE__, line, buf_str(&notes), str_from(note));
    tag_match_free(m);
    buf_release(&got);
    buf_release(&notes);
    profile_free(p);
}

#define EXPECT_RANGE(profile, range, want)                                     \
    expect_matches(__LINE__, (profile), (range),                               \
                   "tagfocus:Interpreted '" range "' as range, not regexp\n",  \
                   (want))
#define EXPECT_KEY_RANGE(profile, key, range, want)                            \
    expect_matches(__LINE__, (profile), key "=" range,                         \
                   "tagfocus:Interpreted '" range "' as range, not regexp\n",  \
                   (want))
#define EXPECT_REGEX(profile, expression, want)                                \
    expect_matches(__LINE__, (profile), (expression), "", (want))

static const char sizes[] = "types x/count\n"
                            "f 1 size:512bytes\n"
                            "f 2 size:1024bytes\n"
                            "f 3 size:4096bytes\n"
                            "f 4 size:-5bytes\n"
                            "f 5 text=1kb\n"
                            "f 6\n";

TEST(ranges_have_four_forms)
{
    EXPECT_RANGE(sizes, "1kb", "2");
    EXPECT_RANGE(sizes, "+1kb:", "2 3");
    EXPECT_RANGE(sizes, ":1KB", "1 2 4");
    EXPECT_RANGE(sizes, "512b:1kb", "1 2");
    EXPECT_RANGE(sizes, "-5b:5b", "4");
    EXPECT_RANGE(sizes, "1kb:4", "2 3"); /* 4 what?  Of the first: kB */
}

TEST(a_range_may_name_its_key)
{
    static const char profile[] = "types x/count\n"
                                  "f 1 a:5ms b:7ms\n"
                                  "f 2 a:7ms\n";

    EXPECT_RANGE(profile, "7ms", "1 2");
    EXPECT_KEY_RANGE(profile, "a", "7ms", "2");
    EXPECT_KEY_RANGE(profile, "c", "7ms", "");
    EXPECT_KEY_RANGE(profile, "", "7ms", "1 2");
}

TEST(any_value_of_a_key_may_match)
{
    EXPECT_RANGE("types x/count\nf 1 a:5ms a:7ms\n", "7ms", "1");
}

TEST(a_range_without_unit_does_not_match_known_units)
{
    EXPECT_RANGE(sizes, "512", "");
    EXPECT_RANGE("types x/count\nf 1 pid:512\n", "512", "1");
    EXPECT_RANGE("types x/count\nf 1 pid:512\n", "512kb", "1");
    EXPECT_RANGE("types x/count\nf 1 bytes:512\n", "512", "");
    EXPECT_RANGE("types x/count\nf 1 bytes:512\n", "512b", "1");
}

TEST(compute_units_with_prefix_never_match)
{
    EXPECT_RANGE("types x/count\nf 1 c:5kilogcu\n", "5kilogcu", "");
    EXPECT_RANGE("types x/count\nf 1 c:5gcu\n", "5gcu", "1");
}

static const char words[] = "types x/count\n"
                            "f 1 key=tag1 zone=east\n"
                            "f 2 key=tag2 key=tag1\n"
                            "f 3 zone=west n:5\n"
                            "f 4\n";

TEST(without_key_every_expression_must_match_some_label)
{
    EXPECT_REGEX(words, "tag1", "1 2");
    EXPECT_REGEX(words, "tag1,east", "1");
    EXPECT_REGEX(words, "tag1,tag2", "2");
    EXPECT_REGEX(words, "zone:w", "3");
    EXPECT_REGEX(words, "^key:tag2$", "2");
    EXPECT_REGEX(words, "tag1,", "1 2");
}

TEST(with_key_one_expression_must_match_one_value)
{
    EXPECT_REGEX(words, "key=tag2,west", "2");
    EXPECT_REGEX(words, "zone=east,w", "1 3");
    EXPECT_REGEX(words, "zone=", "1 3");
    EXPECT_REGEX(words, "zone=^zone", "");
    EXPECT_REGEX(words, "n=.", "");
    EXPECT_REGEX(words, "nokey=.", "");
    EXPECT_REGEX(words, "=tag2", "2");
}

TEST(what_only_looks_like_a_range_is_an_expression)
{
    EXPECT_REGEX("types x/count\nf 1 k=100:kb\n", "100:kb", "1");
    EXPECT_REGEX("types x/count\nf 1 k=1mb:1s\n", "1mb:1s", "1");
    EXPECT_REGEX("types x/count\nf 1 k=1:4kb\n", "1:4kb", "1");
    EXPECT_REGEX("types x/count\nf 1 k=1-2\n", "1-2", "1");
    EXPECT_REGEX("types x/count\nf 1 k=1:2:3\n", "1:2:3", "1");
    EXPECT_REGEX("types x/count\nf 1 k=:\n", ":", "1");
}

TEST(many_expressions_are_all_asked)
{
    struct buf list = BUF_INIT(10000);

    for (int i = 0; i < 100; i++)
        buf_add(&list, STR("tag1,"));
    buf_add(&list, STR("tag2"));
    EXPECT_REGEX(words, buf_cstr(&list), "2");
    buf_release(&list);
}

TEST(wrong_expressions_are_explained)
{
    struct profile *p = sketch(words);
    struct buf notes = BUF_INIT(1000);
    struct label_units units;
    struct error err;

    label_units_find(&units, p->arena, p);
    EXPECT(!tag_match_new("tagignore", STR("a=b,("), p, &units, &notes, &err));
    EXPECT_STR(str_from(err.text), "parsing tagignore regexp: error parsing "
                                   "regexp: missing closing ): `(`");
    EXPECT(!tag_match_new("tagfocus", STR("9223372036854775808kb:"), p, &units,
                          &notes, &err));
    EXPECT_STR(str_from(err.text),
               "parsing tagfocus range 9223372036854775808kb:: "
               "9223372036854775808 is out of range");
    EXPECT(notes.len == 0);
    buf_release(&notes);
    profile_free(p);
}

TEST(filtering_keeps_focused_and_not_ignored_samples)
{
    struct profile *p = sketch(words);
    struct buf notes = BUF_INIT(1000);
    struct label_units units;
    struct tag_filter_matched matched;
    struct tag_match *focus, *ignore;
    struct error err;

    label_units_find(&units, p->arena, p);
    focus = tag_match_new("f", STR("tag1"), p, &units, &notes, &err);
    ignore = tag_match_new("i", STR("east"), p, &units, &notes, &err);
    matched = profile_filter_tags(p, focus, ignore);
    EXPECT(matched.focus && matched.ignore);
    EXPECT_SKETCH(p, "f 2 key=tag2 key=tag1\n");
    matched = profile_filter_tags(p, NULL, ignore);
    EXPECT(!matched.ignore);
    EXPECT_SKETCH(p, "f 2 key=tag2 key=tag1\n");
    tag_match_free(focus);
    tag_match_free(ignore);
    buf_release(&notes);
    profile_free(p);
}

TEST(labels_become_frames_at_root_and_leaf)
{
    struct profile *p = sketch("types x/count\n"
                               "a;b 1 k=v k=w n:5 size:2048bytes\n"
                               "- 2 k=v\n");
    struct tag_frames_matched m =
        profile_add_tag_frames(p, STR("k,zz"), STR(",n,size,"), STR("kb"));

    EXPECT(m.root && m.leaf);
    EXPECT_SKETCH(p, "v,w@k;@zz;a;b;5@n;2kB@size 1 k=v k=w n:5 size:2048bytes\n"
                     "v@k;@zz;@n;@size 2 k=v\n");
    profile_free(p);
}

TEST(new_frames_are_numbered_roots_first_and_shared_by_text)
{
    struct profile *p = sketch("types x/count\n"
                               "a 1 k=1 k:1\n"
                               "a 2 k=1,1\n"
                               "a 3 k=1\n");

    p->locations.v[0].id = 70;
    p->functions.v[0].id = 80;
    profile_add_tag_frames(p, STR("k"), STR("zz"), STR("minimum"));
    EXPECT_SKETCH(p, "1,1@k;a;@zz 1 k=1 k:1\n"
                     "1,1@k;a;@zz 2 k=1,1\n"
                     "1@k;a;@zz 3 k=1\n");
    EXPECT(p->locations.n == 4);
    EXPECT(p->locations.v[1].id == 71);
    EXPECT(p->functions.v[1].id == 81);
    EXPECT(p->stack[0] == 2 && p->stack[1] == 0 && p->stack[2] == 1);
    profile_free(p);
}

TEST(keys_that_no_sample_has_are_told)
{
    struct profile *p = sketch("types x/count\na 1 k=v\n");
    struct tag_frames_matched m =
        profile_add_tag_frames(p, STR("x"), STR("k"), STR("minimum"));

    EXPECT(!m.root && m.leaf);
    m = profile_add_tag_frames(p, STR(""), STR(","), STR("minimum"));
    EXPECT(!m.root && !m.leaf);
    EXPECT_SKETCH(p, "@x;a;v@k 1 k=v\n");
    profile_free(p);
}

TEST_MAIN
