#include "test.h"

#include <assert.h>

#include "profile/aggregate.h"
#include "profile/filter.h"
#include "sketch.h"

static struct regex *re(const char *pattern)
{
    struct error err;
    struct regex *r = NULL;

    if (pattern) {
        r = regex_new(str_from(pattern), &err);
        assert(r);
    }
    return r;
}

static struct name_filter_matched
filter_names(struct profile *p, const char *focus, const char *ignore,
             const char *hide, const char *show)
{
    struct regex *f = re(focus), *i = re(ignore), *h = re(hide), *s = re(show);
    struct name_filter_matched m =
        profile_filter_names(p, (struct name_filter){f, i, h, s});

    regex_free(f);
    regex_free(i);
    regex_free(h);
    regex_free(s);
    return m;
}

static const char stacks[] = "types x/count\n"
                             "map app 1000-2000\n"
                             "map lib 5000-6000\n"
                             "main;read@io.c;copy 1 k=a\n"
                             "app!main;write@io.c<flush@out.c 2 k=b\n"
                             "main;lib! 3 k=c\n"
                             "- 4\n";

TEST(focus_keeps_samples_with_a_match_in_name_file_or_mapping)
{
    struct profile *p = sketch(stacks);
    struct name_filter_matched m;

    m = filter_names(p, "^copy$|out\\.c|^lib$", NULL, NULL, NULL);
    EXPECT(m.focus);
    EXPECT_SKETCH(p, "main;read@io.c;copy 1 k=a\n"
                     "app!main;write@io.c<flush@out.c 2 k=b\n"
                     "main;lib! 3 k=c\n");
    m = filter_names(p, "out\\.c", NULL, NULL, NULL);
    EXPECT_SKETCH(p, "app!main;write@io.c<flush@out.c 2 k=b\n");
    profile_free(p);
}

TEST(focus_that_matches_nothing_says_so_and_leaves_nothing)
{
    struct profile *p = sketch(stacks);

    EXPECT(!filter_names(p, "nowhere", NULL, NULL, NULL).focus);
    EXPECT_SKETCH(p, "");
    profile_free(p);
}

TEST(ignore_wins_over_focus)
{
    struct profile *p = sketch(stacks);
    struct name_filter_matched m = filter_names(p, "main", "copy", NULL, NULL);

    EXPECT(m.focus && m.ignore);
    EXPECT_SKETCH(p, "app!main;write@io.c<flush@out.c 2 k=b\n"
                     "main;lib! 3 k=c\n");
    profile_free(p);
}

TEST(a_match_counts_even_in_locations_that_no_sample_uses)
{
    struct profile *p = sketch(stacks);

    filter_names(p, NULL, "copy", NULL, NULL);
    EXPECT(filter_names(p, NULL, "copy", NULL, NULL).ignore);
    EXPECT(!filter_names(p, NULL, "nowhere", NULL, NULL).ignore);
    profile_free(p);
}

TEST(hide_takes_lines_then_frames_then_samples)
{
    struct profile *p = sketch(stacks);
    struct name_filter_matched m =
        filter_names(p, NULL, NULL, "^(main|write|lib)$", NULL);

    EXPECT(m.hide);
    EXPECT_SKETCH(p, "read@io.c;copy 1 k=a\n"
                     "flush@out.c 2 k=b\n");
    profile_free(p);
}

TEST(hide_by_mapping_takes_all_lines)
{
    struct profile *p = sketch("types x/count\n"
                               "map app 1000-2000\n"
                               "main;app!f<g;leaf 1\n"
                               "app!f<g 2\n");

    filter_names(p, NULL, NULL, "^app$", NULL);
    EXPECT_SKETCH(p, "main;leaf 1\n");
    profile_free(p);
}

TEST(show_keeps_matching_lines_and_hides_frames_without_lines)
{
    struct profile *p = sketch(stacks);
    struct name_filter_matched m = filter_names(p, NULL, NULL, NULL, "io\\.c");

    EXPECT(m.show);
    EXPECT_SKETCH(p, "read@io.c 1 k=a\n"
                     "write@io.c 2 k=b\n");
    profile_free(p);
    p = sketch(stacks);
    m = filter_names(p, NULL, NULL, NULL, "^lib$");
    EXPECT(!m.show); /* the mapping matches, but there is no line to show */
    EXPECT_SKETCH(p, "");
    profile_free(p);
}

TEST(focus_looks_at_lines_before_they_are_hidden)
{
    struct profile *p = sketch(stacks);

    filter_names(p, "copy", NULL, "copy", NULL);
    EXPECT_SKETCH(p, "main;read@io.c 1 k=a\n");
    profile_free(p);
}

TEST(show_from_makes_the_outermost_match_the_root)
{
    struct profile *p = sketch("types x/count\n"
                               "map lib 1-2\n"
                               "a;b;c;b 1\n"
                               "a;b<c;d 2\n"
                               "a;d 3\n"
                               "a;lib!x<y;d 4\n");
    struct regex *r = re("^(b|lib)$");

    EXPECT(profile_show_from(p, r));
    EXPECT_SKETCH(p, "b;c;b 1\n"
                     "b<c;d 2\n"
                     "lib!x<y;d 4\n");
    regex_free(r);
    r = re("^c$");
    EXPECT(profile_show_from(p, r));
    EXPECT_SKETCH(p, "c;b 1\n"
                     "c;d 2\n");
    regex_free(r);
    r = re("nowhere");
    EXPECT(!profile_show_from(p, r));
    EXPECT_SKETCH(p, "");
    regex_free(r);
    profile_free(p);
}

static struct label_filter_matched
filter_labels(struct profile *p, const char *show, const char *hide)
{
    struct regex *s = re(show), *h = re(hide);
    struct label_filter_matched m = profile_filter_labels(p, s, h);

    regex_free(s);
    regex_free(h);
    return m;
}

TEST(labels_are_shown_and_hidden_by_key)
{
    struct profile *p = sketch("types x/count\n"
                               "a 1 key=v other=w size:7 time:8ms\n"
                               "a 2\n"
                               "a 3 key=x\n");
    struct label_filter_matched m = filter_labels(p, "e", "^k");

    EXPECT(m.show && m.hide);
    EXPECT_SKETCH(p, "a 1 other=w size:7 time:8ms\n"
                     "a 2\n"
                     "a 3\n");
    m = filter_labels(p, "nothing", "no");
    EXPECT(!m.show && !m.hide);
    EXPECT_SKETCH(p, "a 1\n"
                     "a 2\n"
                     "a 3\n");
    profile_free(p);
}

TEST(pruning_cuts_below_dropped_frames_that_are_not_kept)
{
    struct profile *p = sketch("types x/count\n"
                               "drop malloc|.*alloc2|new\n"
                               "keep malloc_big|alloc2\n"
                               "main;work;malloc;inner 1\n"
                               "main;work<malloc<x;inner 2\n"
                               "main;malloc_big;inner 3\n"
                               "main;alloc2;inner 4\n"
                               "main;an_alloc2;inner 5\n");
    struct error err;

    EXPECT(profile_prune(p, &err));
    EXPECT_SKETCH(p, "main;work 1\n"
                     "main;work 2\n"
                     "main;malloc_big;inner 3\n"
                     "main;alloc2;inner 4\n"
                     "main 5\n");
    profile_free(p);
}

TEST(pruning_never_cuts_above_the_first_user_frame)
{
    struct profile *p = sketch("types x/count\n"
                               "drop d\n"
                               "d;d;user;d;e 1\n"
                               "d;d 2\n"
                               "d;user 3\n"
                               "- 4\n");
    struct error err;

    EXPECT(profile_prune(p, &err));
    EXPECT_SKETCH(p, "d;d;user 1\n"
                     "d;d 2\n"
                     "d;user 3\n"
                     "- 4\n");
    profile_free(p);
}

TEST(pruning_matches_names_without_arguments)
{
    static const char *const dropped[] = {
        "f",
        "f(int)",
        ".f",
        "f(a)(b)",
    };
    static const char *const kept[] = {
        "..f",
        "f::operator()(int)",
        "(anonymous_namespace)f",
    };
    char text[200];
    struct error err;

    for (size_t i = 0; i < sizeof(dropped) / sizeof(*dropped); i++) {
        struct profile *p;

        snprintf(text, sizeof(text), "types x/count\ndrop f\nmain;%s 1\n",
                 dropped[i]);
        p = sketch(text);
        EXPECT(profile_prune(p, &err));
        EXPECT_SKETCH(p, "main 1\n");
        profile_free(p);
    }
    for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++) {
        struct profile *p;

        snprintf(text, sizeof(text), "types x/count\ndrop f\nmain;%s 1\n",
                 kept[i]);
        p = sketch(text);
        EXPECT(profile_prune(p, &err));
        EXPECT(p->loc_start[1] == 2);
        profile_free(p);
    }
}

TEST(reserved_parentheses_are_part_of_the_name)
{
    struct profile *p = sketch("types x/count\n"
                               "drop .*operator\\(\\)|.*\\(an.*ace\\)::g\n"
                               "main;S::operator()(int);x 1\n");
    struct function *f;
    struct error err;

    /* A sketch has no frames with spaces in their names. */
    f = &p->functions.v[p->lines.v[p->locations.v[0].line_start].function];
    f->name = profile_intern(p, STR("(anonymous namespace)::g(char (*)())"));
    EXPECT(profile_prune(p, &err));
    EXPECT_SKETCH(p, "main 1\n");
    profile_free(p);
}

TEST(a_bad_expression_to_drop_changes_nothing)
{
    struct profile *p = sketch("types x/count\n"
                               "drop main\n"
                               "keep (\n"
                               "a;main;b 1\n");
    struct error err;

    EXPECT(!profile_prune(p, &err));
    EXPECT_STR(str_from(err.text),
               "failed to compile regexp (: error parsing regexp: "
               "missing closing ): `^(()$`");
    EXPECT_SKETCH(p, "a;main;b 1\n");
    profile_free(p);
}

TEST(prune_from_makes_the_innermost_match_the_leaf)
{
    struct profile *p = sketch("types x/count\n"
                               "a;b;c;b;d 1\n"
                               "a;x<b<y;d 2\n"
                               "a;d 3\n"
                               "a;f@b;d 4\n");
    struct regex *r = re("^b$");

    profile_prune_from(p, r);
    EXPECT_SKETCH(p, "a;b;c;b 1\n"
                     "a;x<b 2\n"
                     "a;d 3\n"
                     "a;f@b;d 4\n");
    regex_free(r);
    profile_free(p);
}

static struct profile *detailed(void)
{
    struct profile *p = sketch("types x/count\n"
                               "map app 1000-2000\n"
                               "app!a@f.c:1<b@g.c:2#1111 1\n");

    p->lines.v[0].column = 7;
    p->mappings.v[0].has_functions = true;
    p->mappings.v[0].has_filenames = true;
    p->mappings.v[0].has_line_numbers = true;
    p->mappings.v[0].has_inline_frames = true;
    return p;
}

TEST(aggregation_clears_what_is_not_kept)
{
    struct profile *p = detailed();

    profile_aggregate(p,
                      (struct granularity){.inlines = true, .function = true});
    EXPECT_SKETCH(p, "app!a<b 1\n");
    EXPECT(p->lines.v[0].column == 0);
    EXPECT(p->mappings.v[0].has_functions);
    EXPECT(p->mappings.v[0].has_inline_frames);
    EXPECT(!p->mappings.v[0].has_filenames);
    EXPECT(!p->mappings.v[0].has_line_numbers);
    profile_free(p);

    p = detailed();
    profile_aggregate(p, (struct granularity){
                             .filename = true, .line = true, .address = true});
    EXPECT_SKETCH(p, "app!@f.c:1#1111 1\n");
    EXPECT(!p->mappings.v[0].has_functions);
    EXPECT(!p->mappings.v[0].has_inline_frames);
    profile_free(p);
}

TEST(columns_are_kept_only_with_lines)
{
    struct profile *p = detailed();

    profile_aggregate(
        p, (struct granularity){.inlines = true, .line = true, .column = true});
    EXPECT(p->lines.v[0].column == 7);
    profile_aggregate(p, (struct granularity){.inlines = true, .column = true});
    EXPECT(p->lines.v[0].column == 0);
    profile_free(p);
}

TEST_MAIN
