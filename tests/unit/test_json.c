#include "test.h"

#include <math.h>

#include "base/json.h"

TEST(objects_and_arrays_get_their_commas)
{
    struct buf b = BUF_INIT(BUF_NO_LIMIT);
    struct json j = json_start(&b, 0);

    json_open(&j, '{');
    json_key(&j, STR("a"));
    json_i64(&j, -1);
    json_key(&j, STR("b"));
    json_open(&j, '[');
    json_double(&j, 0.5);
    json_double(&j, (double)NAN);
    json_bool(&j, true);
    json_open(&j, '[');
    json_close(&j, ']');
    json_close(&j, ']');
    json_key(&j, STR("c"));
    json_string(&j, STR("x"));
    json_close(&j, '}');
    EXPECT_STR(buf_str(&b), "{\"a\":-1,\"b\":[0.5,null,true,[]],\"c\":\"x\"}");
    buf_release(&b);
}

TEST(indented_output_has_a_line_for_each_member)
{
    struct buf b = BUF_INIT(BUF_NO_LIMIT);
    struct json j = json_start(&b, 2);

    json_open(&j, '{');
    json_key(&j, STR("a"));
    json_open(&j, '[');
    json_i64(&j, 1);
    json_i64(&j, 2);
    json_close(&j, ']');
    json_key(&j, STR("none"));
    json_open(&j, '{');
    json_close(&j, '}');
    json_close(&j, '}');
    EXPECT_STR(buf_str(&b), "{\n"
                            "  \"a\": [\n"
                            "    1,\n"
                            "    2\n"
                            "  ],\n"
                            "  \"none\": {}\n"
                            "}");
    buf_release(&b);
}

static void expect_quoted(struct str text, const char *want)
{
    struct buf b = BUF_INIT(BUF_NO_LIMIT);

    buf_add_json(&b, text);
    EXPECT_STR(buf_str(&b), want);
    buf_release(&b);
}

TEST(strings_are_escaped)
{
    expect_quoted(STR(""), "\"\"");
    expect_quoted(STR("a\"b\\c/d"), "\"a\\\"b\\\\c/d\"");
    expect_quoted(STR("\b\t\n\v\f\r"), "\"\\b\\t\\n\\u000b\\f\\r\"");
    expect_quoted(STR("\0\x1f\x7f"), "\"\\u0000\\u001f\\u007f\"");
    expect_quoted(STR("µ→😀"), "\"µ→😀\"");
}

TEST(bytes_that_are_not_utf8_become_replacement_characters)
{
    expect_quoted(STR("a\xff"
                      "b\xc3"),
                  "\"a\uFFFDb\uFFFD\"");
    /* A surrogate half and an overlong slash, a sign for each byte. */
    expect_quoted(STR("\xed\xa0\x80"), "\"\uFFFD\uFFFD\uFFFD\"");
    expect_quoted(STR("\xc0\xaf"), "\"\uFFFD\uFFFD\"");
}

TEST_MAIN
