#include "test.h"

#include "base/percent.h"
#include "collector/intake/label_text.h"

/* "a=b c=d" of what a URL's `labels=` gives, or the error. */
static const char *stored(const char *in_url)
{
    static char result[4096];
    char decoded[1024];
    struct arena *a = arena_new();
    struct error err = {""};
    struct labels labels;
    ptrdiff_t n = percent_decode(str_from(in_url), true, decoded);
    size_t at = 0;

    result[0] = '\0';
    EXPECT(n >= 0);
    if (labels_parse(&labels, a, str_of(decoded, (size_t)n), &err))
        for (size_t i = 0; i < labels.n; i++)
            at += (size_t)snprintf(result + at, sizeof(result) - at,
                                   "%s%" STR_FMT "=%" STR_FMT, i ? "|" : "",
                                   STR_ARG(labels.v[i].key),
                                   STR_ARG(labels.v[i].value));
    else
        snprintf(result, sizeof(result), "%s", err.text);
    arena_free(a);
    return result;
}

#define EXPECT_STORED(in_url, want) EXPECT_STR(str_from(stored(in_url)), want)

/* Seen at the original. */
TEST(forms)
{
    EXPECT_STORED("c=d,a=b", "a=b|c=d");
    EXPECT_STORED(",a=b", "a=b");
    EXPECT_STORED("a=b,", "a=b");
    EXPECT_STORED("a=b,,c=d", "a=b|c=d");
    EXPECT_STORED("a", "a=");
    EXPECT_STORED("a=", "a=");
    EXPECT_STORED("=v", "");
    EXPECT_STORED("=", "");
    EXPECT_STORED(",", "");
    EXPECT_STORED("", "");
    EXPECT_STORED("a=b=c", "a=b=c");
    EXPECT_STORED("a=b+c", "a=b c");
    EXPECT_STORED("a=b%2Bc", "a=b c");
    EXPECT_STORED("a=b%252Bc", "a=b+c");
    EXPECT_STORED("a.b/c-d=v", "a.b/c-d=v");
    EXPECT_STORED("a=1,a=2", "a=1|a=2");
    EXPECT_STORED("a=2,a=1", "a=2|a=1");
    EXPECT_STORED("%20a%20=%20b%20", "a=b");
    EXPECT_STORED("a=%252C", "a=,");
    EXPECT_STORED("a=b%2Cc=d", "a=b|c=d");
    EXPECT_STORED("a%3Db", "a=b");
    EXPECT_STORED("\"k\"=\"v\"", "\"k\"=\"v\"");
    EXPECT_STORED("{a=b}", "{a=b}");
}

TEST(bad_escapes_are_quoted)
{
    EXPECT_STORED("a=%25zz", "invalid URL escape \"%zz\"");
    EXPECT_STORED("a=%25", "invalid URL escape \"%\"");
    EXPECT_STORED("a=x%252Fy%25zzz", "invalid URL escape \"%zz\"");
}

TEST(labels_are_bounded)
{
    struct buf text = BUF_INIT(65536);

    for (int i = 0; i <= LABELS_MAX; i++)
        buf_addf(&text, "k%d=v,", i);
    struct arena *a = arena_new();
    struct error err = {""};
    struct labels labels;

    EXPECT(!labels_parse(&labels, a, buf_str(&text), &err));
    EXPECT_STR(str_from(err.text), "more than 256 labels");
    arena_free(a);
    buf_release(&text);
}

TEST_MAIN
