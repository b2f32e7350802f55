/* A page asks its source: what a selection stands for, then its profile. */
#include "test.h"

#include "page_support.h"

/* "now" changes with the clock, "t5" is always the fifth minute. */
struct clock {
    int now;
    int n_taken;
    bool is_gone;
};

static bool resolve(void *arg, struct arena *a, struct http_exchange *x,
                    struct str selection, struct page_content *out,
                    struct error *err)
{
    struct clock *c = arg;
    uint64_t minute = (uint64_t)c->now;

    (void)x;
    if (selection.n > 0 && !str_eq(selection, STR("now")) &&
        !str_to_u64(str_skip(selection, 1), 10, &minute))
        return error_set(err, "no selection \"%" STR_FMT "\"",
                         STR_ARG(selection));
    out->id = out->selection = str_from(arena_printf(a, "t%d", (int)minute));
    out->is_trusted = true;
    return true;
}

static bool take(void *arg, struct arena *a, struct http_exchange *x,
                 const struct page_content *content,
                 struct page_take_options how, struct page_taken *out,
                 struct error *err)
{
    struct clock *c = arg;
    uint64_t minute = 0;

    (void)x;
    (void)how;
    if (c->is_gone)
        return error_set(err, "these profiles were deleted");
    c->n_taken++;
    EXPECT(str_to_u64(str_skip(content->id, 1), 10, &minute));
    *out = (struct page_taken){
        .profile = sketch(
            arena_printf(a, "types cpu/nanoseconds\nmain %d\n", (int)minute)),
        .side = {.name = content->id}};
    return true;
}

static struct page *page_at(struct clock *c)
{
    static struct report_config config;

    config_init(&config);
    return page_new(
        (struct page_source){
            .arg = c, .resolve = resolve, .take = take, .is_fleet = true},
        &(struct page_options){.config = &config});
}

static struct str tag_in(const struct reply *r)
{
    struct str headers = buf_str(&r->headers);
    ptrdiff_t at = str_find(headers, STR("ETag: "));
    struct str tag = STR("");

    if (at >= 0) {
        headers = str_skip(headers, (size_t)at + 6);
        str_split(&headers, '\r', &tag);
    }
    return tag;
}

/* The tag of an answer, to be freed. */
static char *tag_of(struct page *page, const char *line)
{
    struct asker a = {.page = page, .headers = "Accept-Encoding: gzip\r\n"};
    struct reply r = ask(&a, line);
    struct str tag = tag_in(&r);
    char *copy = strndup(tag.n > 0 ? tag.s : "", tag.n);

    EXPECT(r.status == 200);
    reply_release(&r);
    return copy;
}

static void expect_same(struct page *page, const char *x, const char *y,
                        bool same)
{
    char *a = tag_of(page, x), *b = tag_of(page, y);

    EXPECT(a[0] != '\0');
    EXPECT((strcmp(a, b) == 0) == same);
    free(a);
    free(b);
}

TEST(a_range_that_slides_is_never_stale)
{
    struct clock c = {.now = 5};
    struct page *page = page_at(&c);
    char *before = tag_of(page, "GET /ui/data/top?a=now");
    struct asker a = {.page = page};
    struct reply r;
    char headers[80];

    snprintf(headers, sizeof(headers), "If-None-Match: %s\r\n", before);
    a.headers = headers;
    r = ask(&a, "GET /ui/data/top?a=now");
    EXPECT(r.status == 304);
    reply_release(&r);
    c.now = 6;
    r = ask(&a, "GET /ui/data/top?a=now");
    EXPECT(r.status == 200);
    EXPECT_STR(member(&r, "total"), "6");
    reply_release(&r);
    free(before);
    page_free(page);
}

TEST(a_content_is_computed_once_whatever_it_is_called)
{
    struct clock c = {.now = 5};
    struct page *page = page_at(&c);

    expect_same(page, "GET /ui/data/top?a=now", "GET /ui/data/top?a=t5", true);
    expect_same(page, "GET /ui/data/top", "GET /ui/data/top?profile=t5", true);
    EXPECT(c.n_taken == 1);
    expect_same(page, "GET /ui/data/top?a=t5", "GET /ui/data/top?a=t4", false);
    expect_same(page, "GET /ui/data/top?a=t5", "GET /ui/data/flame?a=t5",
                false);
    expect_same(page, "GET /ui/data/top?a=t5", "GET /ui/data/top?a=t5&f=main",
                false);
    expect_same(page, "GET /ui/data/top?a=t5", "GET /ui/data/top?a=t5&b=t4",
                false);
    expect_same(page, "GET /ui/data/top?a=t4&b=t5",
                "GET /ui/data/top?a=t5&b=t4", false);
    page_free(page);
}

TEST(two_selections_are_compared)
{
    struct clock c = {.now = 5};
    struct asker a = {.page = page_at(&c)};
    struct reply r = ask(&a, "GET /ui/data/diff?a=t9&b=t4");
    struct json_view v, m;

    EXPECT(r.status == 200);
    EXPECT(json_view(buf_str(&r.body), &v) &&
           json_view_member(v, STR("total"), &m) &&
           json_view_member(m, STR("delta"), &m));
    EXPECT_STR(m.text, "5");
    reply_release(&r);
    page_free(a.page);
}

static void expect_error(struct page *page, const char *line, const char *words)
{
    struct asker a = {.page = page, .headers = "X-Pprof: 1\r\n"};
    struct reply r = ask(&a, line);

    EXPECT(r.status == 400);
    EXPECT(str_contains(buf_str(&r.body), str_from(words)));
    reply_release(&r);
}

TEST(what_cannot_be_selected_is_said)
{
    struct clock c = {.now = 5};
    struct page *page = page_at(&c);
    struct buf line = BUF_INIT(BUF_NO_LIMIT);

    expect_error(page, "GET /ui/data/top?a=xyz", "no selection");
    expect_error(page, "GET /ui/data/meta?a=t1&b=xyz", "no selection");
    buf_add(&line, STR("GET /ui/data/top?a="));
    for (int i = 0; i <= PAGE_SELECTION_MAX; i++)
        buf_add_char(&line, '1');
    buf_add_char(&line, '\0');
    expect_error(page, line.data, "more than 4096 bytes");
    c.is_gone = true;
    expect_error(page, "GET /ui/data/top?a=t3", "were deleted");
    buf_release(&line);
    page_free(page);
}

TEST(a_source_without_files_takes_none)
{
    struct clock c = {.now = 5};
    struct asker a = {.page = page_at(&c)};
    struct reply r;

    expect_error(a.page, "POST /ui/profiles?name=x", "does not support that");
    expect_error(a.page, "DELETE /ui/profiles/1", "does not support that");
    expect_error(a.page, "POST /ui/refetch", "cannot be fetched again");
    r = ask(&a, "GET /ui/data/meta");
    EXPECT_STR(member(&r, "can_add"), "false");
    EXPECT_STR(member(&r, "is_fleet"), "true");
    EXPECT_STR(member(&r, "profiles"), "[]");
    reply_release(&r);
    page_free(a.page);
}

TEST_MAIN
