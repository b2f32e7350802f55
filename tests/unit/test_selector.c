#include "test.h"

#include "collector/query/selector.h"

/* The canonical form, or the error. */
static const char *canonical(const char *text)
{
    static char result[8192];
    struct arena *a = arena_new();
    struct buf out = BUF_INIT(sizeof(result) - 1);
    struct error err = {""};
    struct selector s;

    if (selector_parse(&s, a, str_from(text), &err)) {
        selector_format(&s, a, &out);
        selector_release(&s);
        snprintf(result, sizeof(result), "%s", buf_cstr(&out));
    } else {
        snprintf(result, sizeof(result), "%s", err.text);
    }
    buf_release(&out);
    arena_free(a);
    return result;
}

#define EXPECT_CANONICAL(text, want) EXPECT_STR(str_from(canonical(text)), want)

TEST(forms)
{
    EXPECT_CANONICAL("cpu", "cpu{}");
    EXPECT_CANONICAL("", "{}");
    EXPECT_CANONICAL("{}", "{}");
    EXPECT_CANONICAL("cpu{service=\"api\"}", "cpu{service=\"api\"}");
    EXPECT_CANONICAL(
        " heap { region =~ 'eu-.*' , service=`api`, version!=\"1.3\", } ",
        "heap{service=\"api\",region=~\"eu-.*\",version!=\"1.3\"}");
    EXPECT_CANONICAL("{\"k8s.pod/name\"=\"a\"}", "{\"k8s.pod/name\"=\"a\"}");
    EXPECT_CANONICAL("{a=\"1\",a=\"1\"}", "{a=\"1\"}");
    EXPECT_CANONICAL("{b!~\"x\",a=\"\"}", "{a=\"\",b!~\"x\"}");
    EXPECT_CANONICAL("{__type__=\"cpu\"}", "cpu{}");
    EXPECT_CANONICAL("{__type__=~\"cpu|heap\"}", "{__type__=~\"cpu|heap\"}");
    EXPECT_CANONICAL("{a=\"\\\"\\\\\\n\"}", "{a=\"\\\"\\\\\\n\"}");
    EXPECT_CANONICAL("{a=`\\d`}", "{a=\"\\\\d\"}");
}

TEST(errors_have_a_column)
{
    EXPECT_CANONICAL("cpu{", "bad selector at column 5: expected the name of a "
                             "label");
    EXPECT_CANONICAL("cpu{a}", "bad selector at column 6: expected =, !=, =~ "
                               "or !~");
    EXPECT_CANONICAL("cpu{a=b}", "bad selector at column 7: expected a value "
                                 "in quotes");
    EXPECT_CANONICAL("cpu{a=\"b}", "bad selector at column 10: the quote is "
                                   "not closed");
    EXPECT_CANONICAL("cpu{a=\"b\"", "bad selector at column 10: the } is "
                                    "missing");
    EXPECT_CANONICAL("cpu{a=\"b\" c}", "bad selector at column 11: expected , "
                                       "or }");
    EXPECT_CANONICAL("cpu heap", "bad selector at column 5: expected "
                                 "TYPE{label=\"value\",…}");
    EXPECT(strstr(canonical("{a=~\"(\"}"), "missing closing )") != NULL);
    EXPECT(strstr(canonical("{a=\"\\q\"}"), "unknown escape") != NULL);
}

static bool matches(const char *text, const char *value)
{
    struct arena *a = arena_new();
    struct error err = {""};
    struct selector s;
    bool result = false;

    EXPECT(selector_parse(&s, a, str_from(text), &err));
    if (s.n == 1 && s.matchers[0].matches)
        result = s.matchers[0].matches(s.matchers[0].arg, str_from(value));
    selector_release(&s);
    arena_free(a);
    return result;
}

TEST(expressions_cover_the_whole_value)
{
    EXPECT(matches("{a=~\"eu-.*\"}", "eu-west"));
    EXPECT(!matches("{a=~\"eu\"}", "eu-west"));
    EXPECT(!matches("{a=~\"west\"}", "eu-west"));
    EXPECT(matches("{a=~\"x|eu-west\"}", "eu-west"));
    EXPECT(matches("{a=~\"a.b\"}", "a\nb"));
    EXPECT(matches("{a=~\"\"}", ""));
}

TEST(service_and_type_are_known)
{
    struct arena *a = arena_new();
    struct error err = {""};
    struct selector s;

    EXPECT(selector_parse(&s, a, STR("cpu{service=\"api\",x=\"y\"}"), &err));
    EXPECT_STR(selector_service(&s), "api");
    EXPECT_STR(selector_type(&s), "cpu");
    EXPECT(s.n == 3 && s.matchers[2].field == STORE_LABEL);
    selector_release(&s);
    EXPECT(selector_parse(&s, a, STR("{service!=\"api\"}"), &err));
    EXPECT_STR(selector_service(&s), "");
    EXPECT_STR(selector_type(&s), "");
    selector_release(&s);
    arena_free(a);
}

TEST(conditions_are_bounded)
{
    struct buf text = BUF_INIT(65536);

    buf_add_char(&text, '{');
    for (int i = 0; i <= SELECTOR_MAX_MATCHERS; i++)
        buf_addf(&text, "l%d=~\"x\",", i);
    buf_add_char(&text, '}');
    EXPECT(strstr(canonical(buf_cstr(&text)), "more than 64") != NULL);
    buf_release(&text);
}

TEST_MAIN
