/*
 * Requests that run out of their memory budget.
 *
 * Each kind of request is tried with budgets that grow in small steps, so
 * that it fails at many different allocations before it succeeds.  After
 * every failure the heap must be as large as before: nothing may leak when
 * the work is left half-way.  The sanitizer build checks the same.
 */
#include "test.h"

#include "live_heap.h"
#include "page_support.h"
#include "profile/encode.h"

#define KB ((size_t)1 << 10)
#define MB ((size_t)1 << 20)

#define HEAD                                                                   \
    "types samples/count cpu/nanoseconds\n"                                    \
    "map /bin/app 1000-5000\n"

/* Stacks of different functions, so many that a flame graph of them needs
 * some megabytes. */
static struct buf many_stacks(size_t n)
{
    struct buf text = BUF_INIT(64 * MB);

    buf_add(&text, STR(HEAD));
    for (size_t i = 0; i < n; i++)
        buf_addf(&text, "main;service_%zu;handler_%zu;leaf_%zu %zu %zu\n",
                 i % 7, i % 1000, i, i % 5 + 1, i % 50 + 1);
    return text;
}

static struct page *page_with(size_t stacks, struct page_options *o)
{
    struct buf text = many_stacks(stacks);
    struct page *page = page_of(buf_cstr(&text), o);

    buf_release(&text);
    return page;
}

TEST(a_request_over_its_budget_fails_and_the_next_one_is_served)
{
    struct page_options o = {.request_bytes = MB};
    struct asker a = {.page = page_with(20000, &o)};
    struct reply r;

    for (int i = 0; i < 3; i++) {
        r = ask(&a, "GET /ui/data/flame");
        EXPECT(r.status == 503);
        EXPECT(has_header(&r, "Content-Type: application/json\r\n"));
        EXPECT_STR(member(&r, "error"),
                   "\"this needs more memory than the 1048576 bytes that one "
                   "request may use\"");
        reply_release(&r);
        r = ask(&a, "GET /ui/assets/index.html");
        EXPECT(r.status == 200);
        reply_release(&r);
    }
    r = ask(&a, "GET /ui/top"); /* the shell, for a program */
    EXPECT(r.status == 503);
    EXPECT_STR(buf_str(&r.body),
               "this needs more memory than the 1048576 bytes that one request "
               "may use\n");
    reply_release(&r);
    page_free(a.page);
}

/* A request that fails while others wait for the same answer. */
TEST(a_failed_answer_can_be_asked_for_again)
{
    struct page_options o = {.request_bytes = MB};
    struct asker a = {.page = page_with(20000, &o),
                      .headers = "Accept-Encoding: gzip\r\n"};

    for (int i = 0; i < 2; i++) {
        struct reply r = ask(&a, "GET /ui/data/flame");

        EXPECT(r.status == 503);
        reply_release(&r);
    }
    page_free(a.page);
}

static int status_of(const struct asker *a, const char *line)
{
    struct reply r = ask(a, line);
    int status = r.status;

    reply_release(&r);
    return status;
}

static size_t live_bytes(void)
{
    arena_free_spares();
    return live_heap_bytes();
}

/* Asks with growing budgets until the request succeeds. */
static void expect_clean_failures(struct page_options *o, const char *headers,
                                  const char *line, struct str body)
{
    int failures = 0, status = 503;

    for (size_t budget = 4 * KB; status == 503 && budget < 64 * MB;
         budget += 2 * KB + budget / 64) {
        struct asker a;
        size_t before;
        ptrdiff_t leaked;

        o->request_bytes = budget;
        a = (struct asker){
            .page = page_with(100, o), .headers = headers, .body = body};
        status = status_of(&a, line); /* may enlarge the page's own tables */
        before = live_bytes();
        if (status == 503)
            status = status_of(&a, line);
        leaked = (ptrdiff_t)(live_bytes() - before);
        if (status == 503 && leaked > 0) {
            printf("# %s: %zd bytes leaked at %zu\n", line, leaked, budget);
            test_failed = true;
        }
        failures += status == 503;
        page_free(a.page);
    }
    if (status != 200)
        printf("# %s: status %d\n", line, status);
    EXPECT(status == 200);
    EXPECT(failures > 5);
}

TEST(failures_at_any_allocation_leave_nothing_behind)
{
    static const char *const lines[] = {
        "GET /ui/data/flame?f=leaf&tf=a:b&h=service&s=main&i=leaf_3",
        "GET /ui/data/graph?f=leaf",
        "GET /ui/data/top?sf=main",
        "GET /ui/data/tags",
        "GET /ui/data/peek?f=leaf",
        "GET /ui/data/traces",
        "GET /ui/data/raw",
        "GET /ui/data/diff?base=1",
        "GET /ui/data/explain?base=1",
        "GET /ui/data/stacks",
        "GET /ui/data/source?f=leaf",
        "GET /ui/data/meta",
        "GET /ui/download",
        "GET /ui/download?format=speedscope",
        "GET /ui/offline",
    };
    static const char *const headers[] = {"", "Accept-Encoding: gzip\r\n"};

    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        struct page_options o = {.local_only = true};

        expect_clean_failures(&o, headers[i % 2], lines[i], STR(""));
    }
}

TEST(an_upload_over_its_budget_leaves_nothing_behind)
{
    struct page_options o = {.local_only = true};
    struct buf text = many_stacks(2000), packed = BUF_INIT(MB);
    struct buf plain = BUF_INIT(4 * MB);
    struct profile *p = sketch(buf_cstr(&text));
    struct error err;

    EXPECT(profile_encode_gzip(p, &packed, &err));
    expect_clean_failures(&o, "X-Pprof: 1\r\n", "POST /ui/profiles?name=x",
                          buf_str(&packed));
    profile_encode(p, &plain);
    expect_clean_failures(&o, "X-Pprof: 1\r\n", "POST /ui/profiles?name=x",
                          buf_str(&plain));
    buf_release(&plain);
    profile_free(p);
    buf_release(&packed);
    buf_release(&text);
}

TEST_MAIN
