#include "test.h"

#include <errno.h>

#include "base/error.h"
#include "base/html.h"
#include "base/path.h"
#include "base/percent.h"
#include "base/utf8.h"

static bool cleans_to(const char *path, const char *want)
{
    struct arena *a = arena_new();
    bool same = str_eq(path_clean(a, str_from(path)), str_from(want));

    arena_free(a);
    return same;
}

TEST(base_is_the_last_element)
{
    EXPECT_STR(path_base(STR("")), ".");
    EXPECT_STR(path_base(STR("///")), "/");
    EXPECT_STR(path_base(STR("/a/b//")), "b");
    EXPECT_STR(path_base(STR("x")), "x");
}

TEST(clean_takes_out_what_changes_nothing)
{
    EXPECT(cleans_to("", "."));
    EXPECT(cleans_to("/", "/"));
    EXPECT(cleans_to("//a///b/", "/a/b"));
    EXPECT(cleans_to("./a/./b", "a/b"));
    EXPECT(cleans_to("a/../..", ".."));
    EXPECT(cleans_to("../../x/..", "../.."));
    EXPECT(cleans_to("/../a", "/a"));
    EXPECT(cleans_to("a/b/../c", "a/c"));
    EXPECT(cleans_to("a/..", "."));
    EXPECT(cleans_to("...", "..."));
}

TEST(dir_is_everything_before_the_last_element)
{
    struct arena *a = arena_new();

    EXPECT_STR(path_dir(a, STR("a/b/c")), "a/b");
    EXPECT_STR(path_dir(a, STR("/a")), "/");
    EXPECT_STR(path_dir(a, STR("a")), ".");
    EXPECT_STR(path_dir(a, STR("")), ".");
    EXPECT_STR(path_dir(a, STR("a/")), "a");
    arena_free(a);
}

TEST(width_counts_code_points_and_stray_bytes)
{
    EXPECT(utf8_count(STR("abc")) == 3);
    EXPECT(utf8_count(STR("µs")) == 2);
    EXPECT(utf8_count(STR("\xf0\x9f\x98\x80")) == 1);
    EXPECT(utf8_count(STR("\xff\xfe")) == 2);
    EXPECT(utf8_count(STR("\xed\xa0\x80")) == 3); /* a surrogate */
    EXPECT(utf8_count(STR("\xc0\x80")) == 2);     /* overlong */
    EXPECT(utf8_count(STR("\xe2\x82")) == 2);     /* cut off */
}

TEST(padding_goes_by_code_points)
{
    struct buf b = BUF_INIT(BUF_NO_LIMIT);

    buf_add_right(&b, STR("µs"), 4);
    buf_add_char(&b, '|');
    buf_add_left(&b, STR("µs"), 4);
    buf_add_char(&b, '|');
    buf_add_right(&b, STR("longer"), 4);
    EXPECT_STR(buf_str(&b), "  µs|µs  |longer");
    buf_clear(&b);
    buf_add(&b, STR("12"));
    buf_align_right(&b, 1, 3);
    buf_align_right(&b, 0, 2);
    EXPECT_STR(buf_str(&b), "1  2");
    buf_release(&b);
}

TEST(trim_takes_white_space_of_any_script)
{
    EXPECT_STR(utf8_trim(STR("")), "");
    EXPECT_STR(utf8_trim(STR(" \t\n\v\f\r ")), "");
    EXPECT_STR(utf8_trim(STR(" a b ")), "a b");
    EXPECT_STR(utf8_trim(STR("\u00a0\u3000x\u2028\u2003 ")), "x");
    EXPECT_STR(utf8_trim(STR("\xc2\x85y\u1680\u202f\u205f")), "y");
    EXPECT_STR(utf8_trim(STR("\u200bz\u200b")), "\u200bz\u200b");
    EXPECT_STR(utf8_trim(STR("\x85z\xa0")), "\x85z\xa0");
}

TEST(html_takes_text_for_text)
{
    struct buf b = BUF_INIT(1000);

    buf_add_html(&b, STR("a<b>&\"c\" 'd'+\xc2\xb5"));
    EXPECT_STR(buf_str(&b),
               "a&lt;b&gt;&amp;&#34;c&#34; &#39;d&#39;&#43;\xc2\xb5");
    buf_release(&b);
}

TEST(letters_of_either_case_can_be_alike)
{
    EXPECT(str_eq_nocase(STR("Content-Length"), STR("content-LENGTH")));
    EXPECT(str_eq_nocase(STR(""), STR("")));
    EXPECT(!str_eq_nocase(STR("a"), STR("ab")));
    EXPECT(!str_eq_nocase(STR("[@"), STR("{`"))); /* differ by 32, too */
    EXPECT(!str_eq_nocase(STR("\xc4"), STR("\xe4")));
}

static void expect_encoded(struct str text, const char *keep, const char *want)
{
    struct buf b = BUF_INIT(1024);

    percent_encode(&b, text, keep);
    EXPECT_STR(buf_str(&b), want);
    buf_release(&b);
}

TEST(percent_encoding_keeps_what_it_is_told_to)
{
    expect_encoded(STR("azAZ09-._~"), "", "azAZ09-._~");
    expect_encoded(STR("a b/c?\n"), "", "a%20b%2Fc%3F%0A");
    expect_encoded(STR("a b/c?"), "/", "a%20b/c%3F");
    expect_encoded(str_of("a\0b", 3), "/", "a%00b");
    expect_encoded(STR("\xc3\xa4"), "", "%C3%A4");
}

TEST(errors_have_a_code_only_where_one_is_given)
{
    struct error err;

    EXPECT(!error_set_code(&err, EALREADY, "the %s is up", "endpoint"));
    EXPECT(err.code == EALREADY);
    EXPECT_STR(str_from(err.text), "the endpoint is up");
    error_wrap(&err, "start");
    EXPECT(err.code == EALREADY);
    EXPECT_STR(str_from(err.text), "start: the endpoint is up");
    error_set_os(&err, "open", "x", ENOENT);
    EXPECT(err.code == ENOENT);
    error_set(&err, "something else");
    EXPECT(err.code == 0);
}

TEST_MAIN
