#include "test.h"

#include "regex/regex.h"

static bool matches(const char *pattern, struct str text)
{
    struct error err;
    struct regex *re = regex_new(str_from(pattern), &err);

    if (!re)
        return false;
    bool found = regex_matches(re, text);
    regex_free(re);
    return found;
}

static const char *error_of(const char *pattern)
{
    static struct error err;
    struct regex *re = regex_new(str_from(pattern), &err);

    if (!re)
        return err.text;
    regex_free(re);
    return "";
}

TEST(search_is_unanchored)
{
    struct error err;
    struct regex *re = regex_new(STR("(a+)(x)?|b"), &err);

    EXPECT(regex_matches(re, STR("--aab")));
    EXPECT(!regex_matches(re, STR("ccc")));
    EXPECT_STR(regex_pattern(re), "(a+)(x)?|b");
    regex_free(re);
}

TEST(an_empty_pattern_matches_an_empty_text)
{
    EXPECT(matches("", str_of(NULL, 0)));
    EXPECT(matches("^$", str_of(NULL, 0)));
}

TEST(dollar_and_caret_mean_the_ends_of_the_text)
{
    EXPECT(!matches("^b", STR("a\nb")));
    EXPECT(matches("(?m)^b", STR("a\nb")));
    EXPECT(!matches("a.b", STR("a\nb")));
    EXPECT(matches("(?s)a.b", STR("a\nb")));
}

TEST(texts_are_read_as_code_points)
{
    EXPECT(matches("^.$", STR("ü")));
    EXPECT(matches("^ü.ï$", STR("ünï")));
    EXPECT(matches("(?i)Ü", STR("ü")));
}

TEST(a_byte_that_is_no_utf8_is_one_replacement_character)
{
    EXPECT(matches("^.$", STR("\xff")));
    EXPECT(matches("^a[^b]c$", STR("a\x80"
                                   "c")));
    EXPECT(matches("^\\x{FFFD}{3}$", STR("\xed\xa0\x80"))); /* a surrogate */
    EXPECT(matches("^..x$", STR("\xe2\x82x")));             /* cut short */
    EXPECT(!matches("^.$", STR("\xc0\x80")));               /* overlong */
}

TEST(errors_have_gos_words_and_the_offending_fragment)
{
    static const char *const cases[][2] = {
        {"(", "missing closing ): `(`"},
        {"(unclosed", "missing closing ): `(unclosed`"},
        {"a)b", "unexpected ): `a)b`"},
        {"[", "missing closing ]: `[`"},
        {"x[a", "missing closing ]: `[a`"},
        {"[b-a]", "invalid character class range: `b-a`"},
        {"[[:foo:]]", "invalid character class range: `[:foo:]`"},
        {"\\pX", "invalid character class range: `\\pX`"},
        {"*", "missing argument to repetition operator: `*`"},
        {"a|*", "missing argument to repetition operator: `*`"},
        {"a**", "invalid nested repetition operator: `**`"},
        {"a*+?", "invalid nested repetition operator: `*+?`"},
        {"a{1001}", "invalid repeat count: `{1001}`"},
        {"a{2,1}", "invalid repeat count: `{2,1}`"},
        {"\\", "trailing backslash at end of expression: ``"},
        {"\\8", "invalid escape sequence: `\\8`"},
        {"(?i)(?q)", "invalid or unsupported Perl syntax: `(?q`"},
        {"a(?=b)", "invalid or unsupported Perl syntax: `(?=`"},
        {"(?P<n", "invalid named capture: `(?P<n`"},
        {"(?<n", "invalid named capture: `(?<n`"},
        {"(?<a+>x)", "invalid named capture: `(?<a+>`"},
        {"ab\xff"
         "c",
         "invalid UTF-8: `\xff"
         "c`"},
        {"\\C", "invalid escape sequence: `\\C`"},
        {"(\\C", "invalid escape sequence: `\\C`"},
        {"\\x{", "invalid escape sequence: `\\x{`"},
        {"[a\\p", "invalid character class range: `\\p`"},
        {"[a-\\pL", "invalid escape sequence: `\\p`"},
        {"a+{2,1}", "invalid repeat count: `{2,1}`"},
        {"{1001}?", "invalid repeat count: `{1001}`"},
        {"(?:a{1000}){1000}", "invalid repeat count: `{1000}`"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char want[128];
        snprintf(want, sizeof(want), "error parsing regexp: %s", cases[i][1]);
        EXPECT_STR(str_from(error_of(cases[i][0])), want);
    }
}

TEST(groups_may_be_named_in_both_spellings_and_twice)
{
    EXPECT(matches("^(?P<a>x)(?<b>y)$", STR("xy")));
    EXPECT(matches("^(?P<a>x)(?<a>y)$", STR("xy")));
    EXPECT(matches("^[(?<]+$", STR("(?<")));
    EXPECT(matches("^\\Q(?<\\E$", STR("(?<")));
}

TEST(groups_nest_a_thousand_deep_at_most)
{
    char pattern[2001] = {0};

    memset(pattern, '(', 999);
    memset(pattern + 999, ')', 999);
    EXPECT(matches(pattern, STR("")));
    memset(pattern, '(', 1000);
    memset(pattern + 1000, ')', 1000);
    EXPECT(str_has_prefix(
        str_from(error_of(pattern)),
        STR("error parsing regexp: expression nests too deeply: `((")));
}

TEST_MAIN
