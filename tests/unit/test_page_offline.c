#include "test.h"

#include "base/base64.h"
#include "fake_objects.h"
#include "page_support.h"
#include "profile/encode.h"

/* The page as one file: what is in it is what the server would answer. */

#define SOME                                                                   \
    "types samples/count cpu/nanoseconds\n"                                    \
    "map app 1000-5000\n"                                                      \
    "app!main@f.c:2#1010;app!read@f.c:3#1120 1 10 k=v\n"                       \
    "app!main@f.c:2#1010;app!write@f.c:4#1230 2 30\n"

static struct fake_objects fake;

static const struct objects *objects_of(void *arg, struct arena *a)
{
    struct objects *objects = arena_alloc(a, sizeof(*objects));

    *objects = fake_objects(arg);
    return objects;
}

static struct page_options options_with_code(void)
{
    fake = (struct fake_objects){0};
    return (struct page_options){.arg = &fake, .objects = objects_of};
}

/* What stands between `from` and `to` in a text; "" if it is not there. */
static struct str between(struct str text, const char *from, const char *to)
{
    ptrdiff_t at = str_find(text, str_from(from)), end;

    if (at < 0)
        return STR("");
    text = str_skip(text, (size_t)at + strlen(from));
    end = str_find(text, str_from(to));
    return end < 0 ? STR("") : str_first(text, (size_t)end);
}

/* The bytes of an answer ("raw?si=cpu"), which may stand elsewhere. */
static struct buf saved_bytes(struct str html, const char *key)
{
    struct buf bytes = BUF_INIT(BUF_NO_LIMIT);
    char start[128], same[64];
    struct str content, reference;
    ptrdiff_t n;

    snprintf(start, sizeof(start), "data-answer=\"%s\"", key);
    content = between(html, start, "</script>");
    reference = between(content, "data-same=\"", "\"");
    if (reference.n > 0) {
        snprintf(same, sizeof(same), "%.*s", (int)reference.n, reference.s);
        return saved_bytes(html, same);
    }
    if (content.n < 2)
        return bytes;
    content = str_skip(content, 1); /* ">" */
    n = base64_decode(content, buf_reserve(&bytes, content.n));
    EXPECT(n > 0);
    bytes.len = n > 0 ? (size_t)n : 0;
    return bytes;
}

static bool has_answer(struct str html, const char *key)
{
    struct buf bytes = saved_bytes(html, key);
    bool has = bytes.len > 0;

    buf_release(&bytes);
    return has;
}

/* Is it what the server answers to the query of the view? */
static void expect_same(const struct asker *a, struct str html, const char *key,
                        const char *query)
{
    struct buf bytes = saved_bytes(html, key);
    struct buf plain = BUF_INIT(BUF_NO_LIMIT);
    char line[128];
    struct error err;
    struct reply r;

    snprintf(line, sizeof(line), "GET /ui/data/%s", query);
    r = ask(a, line);
    EXPECT(r.status == 200);
    EXPECT(gzip_inflate(buf_str(&bytes), &plain, &err));
    EXPECT(r.body.len > 0 && str_eq(buf_str(&plain), buf_str(&r.body)));
    reply_release(&r);
    buf_release(&plain);
    buf_release(&bytes);
}

TEST(it_has_what_every_view_asks_for)
{
    struct page_options o = options_with_code();
    struct asker a = {.page = page_of(SOME, &o)};
    struct reply r = ask(&a, "GET /ui/offline?si=cpu");
    struct str html = buf_str(&r.body);

    EXPECT(r.status == 200);
    expect_same(&a, html, "top?si=cpu", "top?si=cpu&trim=f");
    expect_same(&a, html, "raw?si=cpu", "raw?si=cpu");
    expect_same(&a, html, "raw?si=samples", "raw?si=samples");
    expect_same(&a, html, "labels?si=cpu", "labels?si=cpu");
    expect_same(&a, html, "traces?si=cpu", "traces?si=cpu");
    expect_same(&a, html, "traces?si=samples", "traces?si=samples");
    expect_same(&a, html, "peek?si=cpu", "peek?si=cpu&sym=.");
    expect_same(&a, html, "source?si=cpu", "source?si=cpu&sym=.");
    expect_same(&a, html, "source?si=samples", "source?si=samples&sym=.");
    expect_same(&a, html, "disasm?si=cpu", "disasm?si=cpu&sym=.");
    expect_same(&a, html, "disasm?si=samples", "disasm?si=samples&sym=.");
    EXPECT(!has_answer(html, "diff?si=cpu"));
    reply_release(&r);
    page_free(a.page);
}

TEST(filters_hold_for_code_too)
{
    struct page_options o = options_with_code();
    struct asker a = {.page = page_of(SOME, &o)};
    struct reply r = ask(&a, "GET /ui/offline?f=write");
    struct buf page = BUF_INIT(BUF_NO_LIMIT);
    struct error err;

    expect_same(&a, buf_str(&r.body), "disasm?si=cpu", "disasm?si=cpu&f=write");
    reply_release(&r);

    /* As pprof -html -focus=read has it: an option, no word. */
    ((struct report_config *)o.config)->focus = STR("read");
    EXPECT(page_write(a.page, &page, &err));
    expect_same(&a, buf_str(&page), "source?si=cpu", "source?si=cpu&f=read");
    buf_release(&page);
    page_free(a.page);
}

TEST(what_is_the_same_for_all_types_is_there_once)
{
    struct page_options o = options_with_code();
    struct asker a = {.page = page_of(SOME, &o)};
    struct reply r = ask(&a, "GET /ui/offline?si=cpu");
    struct str html = buf_str(&r.body);

    EXPECT(str_contains(html, STR("data-answer=\"raw?si=samples\" "
                                  "data-same=\"raw?si=cpu\"></script>")));
    EXPECT(!str_contains(html, STR("data-same=\"traces?si=cpu\"")));
    reply_release(&r);
    page_free(a.page);
}

TEST(code_is_read_once_for_all_types)
{
    struct page_options o = options_with_code();
    struct asker a = {.page = page_of(SOME, &o)};
    struct reply r;
    int once;

    r = ask(&a, "GET /ui/data/source?f=.");
    reply_release(&r);
    r = ask(&a, "GET /ui/data/disasm?f=.");
    reply_release(&r);
    once = fake.disassembled;
    fake = (struct fake_objects){0};
    r = ask(&a, "GET /ui/offline");
    EXPECT(has_answer(buf_str(&r.body), "disasm?si=samples"));
    EXPECT(once > 1 && fake.disassembled == once);
    EXPECT(fake.opened == 1 && fake.closed == 1);
    reply_release(&r);
    page_free(a.page);
}

TEST(a_report_that_fails_or_says_nothing_is_left_out)
{
    struct page_options o = {0}; /* no binaries */
    struct asker a = {.page = page_of("types n/count\n- 1\n", &o)};
    struct reply r = ask(&a, "GET /ui/offline");
    struct str html = buf_str(&r.body);

    EXPECT(r.status == 200 && has_answer(html, "flame?si=n"));
    EXPECT(has_answer(html, "raw?si=n"));
    EXPECT(!has_answer(html, "source?si=n"));
    EXPECT(!has_answer(html, "disasm?si=n"));
    reply_release(&r);
    page_free(a.page);
}

/* ---- the profile itself ---- */

TEST(the_profile_can_be_taken_out_again)
{
    struct page_options o = {0};
    struct asker a = {.page = page_of(SOME, &o)};
    struct reply page = ask(&a, "GET /ui/offline?f=write");
    struct reply file = ask(&a, "GET /ui/download");
    struct buf saved = saved_bytes(buf_str(&page.body), "download?");

    EXPECT(file.body.len > 0 && str_eq(buf_str(&saved), buf_str(&file.body)));
    buf_release(&saved);
    reply_release(&page);
    reply_release(&file);
    page_free(a.page);
}

/* `n` letters that gzip makes little of. */
static void add_noise(struct buf *out, size_t n)
{
    uint64_t x = 88172645463325252u;

    for (size_t i = 0; i < n; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        buf_add_char(out, (char)('0' + x % 64));
    }
}

TEST(what_is_too_large_is_left_out)
{
    struct page_options o = {0};
    struct buf text = BUF_INIT(BUF_NO_LIMIT);
    struct asker a;
    struct reply r;

    /* 6 MB in raw and traces, 18 MB in the profile. */
    buf_add(&text, STR("types n/count\nmain 1 k="));
    add_noise(&text, (size_t)8 << 20);
    buf_add(&text, STR("\nkeep "));
    add_noise(&text, (size_t)16 << 20);
    buf_add_char(&text, '\n');
    a = (struct asker){.page = page_of(buf_cstr(&text), &o)};
    buf_release(&text);
    r = ask(&a, "GET /ui/offline");
    EXPECT(r.status == 200 && has_answer(buf_str(&r.body), "top?si=n"));
    EXPECT(!has_answer(buf_str(&r.body), "raw?si=n"));
    EXPECT(!has_answer(buf_str(&r.body), "traces?si=n"));
    EXPECT(!has_answer(buf_str(&r.body), "download?"));
    reply_release(&r);
    page_free(a.page);
}

/* ---- strangers ---- */

static void drop_some(struct asker *a)
{
    struct buf bytes = BUF_INIT(BUF_NO_LIMIT);
    struct profile *p = sketch(SOME);
    struct reply r;

    profile_encode(p, &bytes);
    profile_free(p);
    a->body = buf_str(&bytes);
    r = ask(a, "POST /ui/profiles?name=x");
    EXPECT_STR(buf_str(&r.body), "{\"id\":\"2\"}");
    reply_release(&r);
    a->body = STR("");
    buf_release(&bytes);
}

TEST(what_came_from_another_machine_opens_no_files_for_it)
{
    static const char *const lines[] = {"GET /ui/offline?profile=2",
                                        "GET /ui/offline?profile=1&base=2"};

    for (int local = 0; local < 2; local++) {
        struct page_options o = options_with_code();
        struct asker a = {.headers = "X-Pprof: 1\r\n"};

        o.local_only = local;
        a.page = page_of(SOME, &o);
        drop_some(&a);
        for (int i = 0; i < 2; i++) {
            struct reply r = ask(&a, lines[i]);
            struct str html = buf_str(&r.body);

            EXPECT(r.status == 200 && has_answer(html, "raw?si=cpu"));
            EXPECT(has_answer(html, "download?"));
            /* Two equal profiles have no difference to show. */
            EXPECT(has_answer(html, "source?si=cpu") == (local && i == 0));
            EXPECT(has_answer(html, "disasm?si=cpu") == (local && i == 0));
            EXPECT((fake.opened > 0) == local);
            reply_release(&r);
        }
        page_free(a.page);
    }
}

TEST_MAIN
