/*
 * The overview of all services is put together from kept pieces.  It must be
 * what the store says without them, whatever came or went meanwhile, and must
 * not ask the store about times in which nothing changed.
 */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "collector/collector.h"
#include "collector/query/pieces.h"
#include "sketch.h"
#include "store_support.h"

static int64_t now_ns; /* the store's clock */
static struct store *store;
static struct collector collector;
static struct buf reply;

static void ask(const char *query)
{
    const struct http_client client = {.address = "-"};
    const struct http_request request = {.method = STR("GET"),
                                         .target = STR("/api/1/overview"),
                                         .path = STR("/api/1/overview"),
                                         .query = str_from(query)};
    struct http_exchange x = {.request = &request,
                              .client = &client,
                              .identity = {.scopes = HTTP_MAY_READ},
                              .status = 200,
                              .headers = BUF_INIT((size_t)64 << 10),
                              .body = BUF_INIT((size_t)16 << 20)};

    collector_handle(&collector, &x);
    EXPECT(x.status == 200);
    buf_clear(&reply);
    buf_add(&reply, buf_str(&x.body));
    buf_release(&x.body);
    buf_release(&x.headers);
}

/* With the pieces, then the same range without them. */
static void compare(const char *query)
{
    struct buf kept = BUF_INIT((size_t)16 << 20);
    char plain[256];
    double from, to;

    ask(query);
    buf_add(&kept, buf_str(&reply));
    EXPECT(sscanf(buf_cstr(&kept), "{\"from\":%lf,\"to\":%lf", &from, &to) ==
           2);
    /* The first `from` counts. */
    snprintf(plain, sizeof(plain), "from=%.0f&to=%.0f&%s", from, to, query);
    ask(plain);
    if (!str_eq(buf_str(&reply), buf_str(&kept))) {
        test_failed = true;
        printf("# kept:  %s# plain: %s", buf_cstr(&kept), buf_cstr(&reply));
    }
    buf_release(&kept);
}

static void compare_ranges(void)
{
    compare("");
    compare("from=now-7d&step=3h");
    compare("from=now-30d&step=12h");
    compare("step=7m&window=13m&compare=90m&from=now-3h");
}

static void put(const char *service, const char *type, const char *version,
                int64_t created_ns, const char *lines)
{
    struct profile *p = sketch(lines);
    struct store_label label = {STR("version"), str_from(version)};
    struct buf bytes = BUF_INIT(BUF_NO_LIMIT);
    struct store_put one;
    struct error err;

    profile_encode(p, &bytes);
    one = put_of(buf_str(&bytes), service, type);
    one.created_at_ns = created_ns;
    one.created_at_wins = true;
    one.labels = &label;
    one.n_labels = *version != '\0';
    EXPECT(put_wait(store, &one, NULL, &err) == STORE_OK);
    buf_release(&bytes);
    profile_free(p);
}

static void put_cpu(const char *service, const char *version, int64_t created)
{
    put(service, "cpu", version, created,
        "types samples/count cpu/nanoseconds\nmain;a 3 30\nmain;b 1 10\n");
}

static void put_heap(int64_t created, bool is_larger)
{
    put("api", "heap", "", created,
        is_larger ? "types alloc_objects/count alloc_space/bytes\nmain;a 9 99\n"
                  : "types alloc_objects/count alloc_space/bytes\nmain;a 2 "
                    "20\n");
}

static int64_t test_clock(void)
{
    return now_ns;
}

static void work_off(void)
{
    while (sqlite_store_work(store))
        continue;
}

static void begin(const struct store_retention *rules, size_t n)
{
    struct store_options o;

    store_place();
    o = store_test_options();
    o.now_ns = test_clock;
    o.retention = rules;
    o.n_retention = n;
    now_ns = clock_realtime_ns();
    store = store_reopen(&o);
    collector_init(&collector, &(struct collector_options){
                                   .store = store, .has_no_clients = true});
    reply = BUF_INIT((size_t)16 << 20);
}

static void end(void)
{
    buf_release(&reply);
    collector_release(&collector);
    store_close(store);
    store_clean();
}

/* Two days of two services. */
static void fill(void)
{
    for (int i = 0; i < 48; i++) {
        put_cpu("api", i < 20 ? "1.1" : "1.0", now_ns - i * HOUR - 7 * SECOND);
        put_cpu("drop", "", now_ns - i * HOUR - 9 * MINUTE);
    }
    put_heap(now_ns - 3 * HOUR, false);
    put_heap(now_ns - HOUR, true);
}

TEST(pieces_say_what_the_store_says)
{
    begin(NULL, 0);
    compare_ranges();
    fill();
    compare_ranges();
    put_cpu("api", "1.2", now_ns - SECOND);
    compare_ranges();
    put_cpu("new", "", now_ns - MINUTE);
    compare_ranges();
    put_cpu("api", "0.9", now_ns - 5 * HOUR); /* late */
    put_cpu("late", "0.9", now_ns - 20 * HOUR);
    put_heap(now_ns - 2 * HOUR, true);
    compare_ranges();
    put_cpu("api", "0.8", now_ns - 7 * DAY - 10 * MINUTE);
    compare_ranges();
    end();
}

TEST(pieces_follow_the_files_of_the_store)
{
    struct store_retention rules[] = {
        {.service = STR("drop"), .max_age_ns = {2 * DAY}},
        {.service = STR("")},
    };
    struct error err;

    begin(rules, 2);
    fill();
    compare_ranges();
    EXPECT(sqlite_store_seal_all(store, &err));
    work_off();
    compare_ranges();
    ask("");
    EXPECT(str_contains(buf_str(&reply), STR("\"service\":\"drop\"")));
    now_ns += 4 * DAY;
    work_off();
    ask("");
    EXPECT(!str_contains(buf_str(&reply), STR("\"service\":\"drop\"")));
    compare_ranges();
    end();
}

/* How often the store is asked for the overview.  A minute may end while the
 * test runs; then it looks again. */
static uint64_t questions(void)
{
    struct buf earlier = BUF_INIT((size_t)16 << 20);
    uint64_t before;

    do {
        buf_clear(&earlier);
        buf_add(&earlier, buf_str(&reply));
        before = collector.pieces->asked;
        ask("");
    } while (memcmp(earlier.data, reply.data,
                    strlen("{\"from\":1795022993.692,"
                           "\"to\":1795022993")));
    buf_release(&earlier);
    return collector.pieces->asked - before;
}

TEST(only_what_changed_is_asked_for)
{
    begin(NULL, 0);
    fill();
    ask("");
    ask("");
    EXPECT(questions() == 0);
    put_cpu("api", "1.2", now_ns - 5 * HOUR);
    EXPECT(questions() <= 1);
    put_cpu("api", "1.2", now_ns - SECOND);
    EXPECT(questions() <= 2); /* a minute, and a step that has ended */
    EXPECT(questions() == 0);
    end();
}

TEST(questions_of_their_own_are_not_kept)
{
    begin(NULL, 0);
    fill();
    ask("query=cpu{service=\"api\"}");
    ask("step=2000d&from=0");
    ask("step=90m");
    ask("window=2h");
    ask("window=30s");
    EXPECT(collector.pieces->asked == 0);
    end();
}

TEST_MAIN
