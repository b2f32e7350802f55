#include "test.h"

#include "cmd/flags.h"

struct parsed {
    bool top, cum;
    int count;
    double fraction;
    struct str focus;
    struct flag_list headers;
    enum flags_result result;
    int rest;
    struct error err;
};

#define MOST_WORDS 8

/* Reads the words up to a NULL. */
static struct parsed parse(struct arena *a, char *const *words)
{
    struct parsed p = {.count = -1, .fraction = 0.5};
    struct flag flags[] = {
        {STR("top"), FLAG_BOOL, &p.top},
        {STR("cum"), FLAG_BOOL, &p.cum},
        {STR("count"), FLAG_INT, &p.count},
        {STR("fraction"), FLAG_FLOAT, &p.fraction},
        {STR("focus"), FLAG_TEXT, &p.focus},
        {STR("header"), FLAG_LIST, &p.headers},
    };
    int n = 0;

    while (words[n])
        n++;
    p.result = flags_parse(flags, sizeof(flags) / sizeof(*flags), a, words, n,
                           &p.rest, &p.err);
    return p;
}

#define PARSE(...)                                                             \
    struct arena *a = arena_new();                                             \
    struct parsed p = parse(a, (char *[]){__VA_ARGS__, NULL})

/* A word as main gets it. */
#define W(literal)                                                             \
    (char[])                                                                   \
    {                                                                          \
        literal                                                                \
    }

TEST(one_dash_and_two_mean_the_same)
{
    PARSE(W("-top"), W("--cum"), W("--count=3"), W("-focus"), W("x"), W("f"));

    EXPECT(p.result == FLAGS_OK && p.rest == 5);
    EXPECT(p.top && p.cum && p.count == 3);
    EXPECT_STR(p.focus, "x");
    arena_free(a);
}

TEST(booleans_take_no_separate_value)
{
    PARSE(W("-top"), W("false"));

    EXPECT(p.result == FLAGS_OK && p.rest == 1 && p.top);
    arena_free(a);
}

TEST(flags_end_at_the_first_other_word_and_at_two_dashes)
{
    PARSE(W("-top"), W("--"), W("-cum"));

    EXPECT(p.result == FLAGS_OK && p.rest == 2 && !p.cum);
    arena_free(a);
}

TEST(a_lone_dash_is_an_argument)
{
    PARSE(W("-top"), W("-"));

    EXPECT(p.result == FLAGS_OK && p.rest == 1);
    arena_free(a);
}

TEST(the_last_of_several_wins_but_lists_keep_all)
{
    PARSE(W("-focus=a"), W("-focus=b"), W("-header"), W("A: 1"),
          W("-header=B: 2"));

    EXPECT_STR(p.focus, "b");
    EXPECT(p.headers.texts.n == 2);
    EXPECT_STR(p.headers.texts.v[1], "B: 2");
    arena_free(a);
}

TEST(numbers_are_gos)
{
    PARSE(W("-count=0x10"), W("-fraction=1e-3"));

    EXPECT(p.result == FLAGS_OK && p.count == 16 && p.fraction == 1e-3);
    arena_free(a);
}

TEST(numbers_beyond_int_are_the_nearest_int)
{
    PARSE(W("-count=9999999999"));

    EXPECT(p.result == FLAGS_OK && p.count == 2147483647);
    arena_free(a);
}

TEST(help_is_told_from_errors)
{
    PARSE(W("-top"), W("--help"), W("-nonsense"));

    EXPECT(p.result == FLAGS_HELP);
    arena_free(a);
}

static void expect_error(char *const *words, const char *want)
{
    struct arena *a = arena_new();
    struct parsed p = parse(a, words);

    EXPECT(p.result == FLAGS_BAD);
    EXPECT_STR(str_from(p.err.text), want);
    arena_free(a);
}

#define EXPECT_ERROR(want, ...)                                                \
    expect_error((char *[]){__VA_ARGS__, NULL}, want)

TEST(errors_have_gos_words)
{
    EXPECT_ERROR("flag provided but not defined: -x", W("-x"));
    EXPECT_ERROR("flag provided but not defined: -x", W("--x=1"));
    EXPECT_ERROR("flag needs an argument: -focus", W("-focus"));
    EXPECT_ERROR("bad flag syntax: ---x", W("---x"));
    EXPECT_ERROR("bad flag syntax: -=x", W("-=x"));
    EXPECT_ERROR("invalid value \"x\" for flag -count: parse error",
                 W("-count=x"));
    EXPECT_ERROR("invalid value \"\" for flag -count: parse error",
                 W("-count="));
    EXPECT_ERROR("invalid value \"99999999999999999999\" for flag -count: "
                 "value out of range",
                 W("-count=99999999999999999999"));
    EXPECT_ERROR("invalid value \"a\\tb\" for flag -fraction: parse error",
                 W("-fraction=a\tb"));
    EXPECT_ERROR("invalid boolean value \"maybe\" for -top: parse error",
                 W("-top=maybe"));
}

TEST_MAIN
