#include "test.h"

#include "base/json_view.h"

static bool is_json(const char *text)
{
    struct json_view v;

    return json_view(str_from(text), &v);
}

TEST(what_is_json_is_read)
{
    static const char *const texts[] = {
        "{}",
        "[]",
        " [ 1 , -0.5e+3, 0, 1E9 ] ",
        "true",
        "null",
        "\"\"",
        "\"a\\n\\u00e4\\ud83d\\ude00\"",
        "{\"a\":{\"b\":[{},[],\"c\"]},\"d\":false}",
        "\"\xc3\xa4\"",
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        EXPECT(is_json(texts[i]));
        if (!is_json(texts[i]))
            printf("# %s\n", texts[i]);
    }
}

TEST(what_is_not_quite_json_is_not)
{
    static const char *const texts[] = {
        "",
        " ",
        "{",
        "[1,]",
        "{\"a\":1,}",
        "{a:1}",
        "01",
        "1.",
        ".5",
        "-",
        "1e",
        "+1",
        "tru",
        "truex",
        "nul",
        "{} {}",
        "[1 2]",
        "\"a",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\ud800\"",
        "\"\\udc00\"",
        "\"\n\"",
        "\"\xff\"",
        "{\"a\" 1}",
        "{\"a\":}",
        "{1:2}",
        "'a'",
        "[",
        "]",
        "\"\\ud800\\u0041\"",
        "NaN",
        "/**/1",
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        EXPECT(!is_json(texts[i]));
        if (is_json(texts[i]))
            printf("# %s\n", texts[i]);
    }
}

TEST(deep_texts_end_the_patience_not_the_stack)
{
    static char deep[100000];

    memset(deep, '[', sizeof(deep) - 1);
    EXPECT(!is_json(deep));
    EXPECT(is_json("[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]"));
}

TEST(members_are_found_by_their_name)
{
    struct json_view v, m;
    struct buf b = BUF_INIT(100);
    bool yes;

    EXPECT(json_view(STR("{ \"a\": {\"x\":1}, \"\\u0062\" : \"\\u00e4\\t\","
                         "\"c\":true,\"d\":1,\"d\":2}"),
                     &v));
    EXPECT(json_view_member(v, STR("a"), &m));
    EXPECT_STR(m.text, "{\"x\":1}");
    EXPECT(json_view_is(m, '{') && !json_view_is(m, '['));
    EXPECT(json_view_member(v, STR("b"), &m) && json_view_string(m, &b));
    EXPECT_STR(buf_str(&b), "\xc3\xa4\t");
    EXPECT(!json_view_bool(m, &yes));
    EXPECT(json_view_member(v, STR("c"), &m) && json_view_bool(m, &yes) && yes);
    EXPECT(!json_view_member(v, STR("d"), &m)); /* which one? */
    EXPECT(!json_view_member(v, STR("x"), &m));
    EXPECT(json_view(STR("[1]"), &v) && !json_view_member(v, STR("a"), &m));
    EXPECT(json_view(STR("{}"), &v) && !json_view_member(v, STR("a"), &m));
    buf_release(&b);
}

TEST(elements_come_one_after_another)
{
    struct json_view v, e;
    struct str rest = {0};

    EXPECT(json_view(STR(" [1 , \"a,b\",[2], {\"c\":3} ]"), &v));
    EXPECT(json_view_next(v, &rest, &e));
    EXPECT_STR(e.text, "1");
    EXPECT(json_view_next(v, &rest, &e));
    EXPECT_STR(e.text, "\"a,b\"");
    EXPECT(json_view_next(v, &rest, &e));
    EXPECT_STR(e.text, "[2]");
    EXPECT(json_view_next(v, &rest, &e));
    EXPECT_STR(e.text, "{\"c\":3}");
    EXPECT(!json_view_next(v, &rest, &e));
    rest = (struct str){0};
    EXPECT(json_view(STR("[]"), &v) && !json_view_next(v, &rest, &e));
    rest = (struct str){0};
    EXPECT(json_view(STR("{}"), &v) && !json_view_next(v, &rest, &e));
}

TEST_MAIN
