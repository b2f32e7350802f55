/*
 * Days in the life of a fleet, on a clock of the test's own: 200 services send
 * profiles, days end, sums are made, profiles expire.  What each profile says
 * follows from its service and time, so the exact answer to every question can
 * be computed.
 *
 * PPROF_FLEET_PROFILES is the number of profiles of a service and day; 1440 is
 * one a minute.
 */
#include "test.h"

#include <sys/stat.h>

#include "sketch.h"
#include "store_support.h"

#define SECOND ((int64_t)1000000000)
#define MINUTE (60 * SECOND)
#define HOUR   (3600 * SECOND)
#define DAY    (24 * HOUR)

#define MIDNIGHT ((int64_t)1700006400 * SECOND)

enum { SERVICES = 200, DAYS = 6, STACKS = 5 };

static int64_t now_ns;
static int profiles = 8; /* of a service and day */

static int64_t fleet_clock(void)
{
    return now_ns;
}

/*
 * The truth.
 */

static int64_t time_of(int service, int i)
{
    int64_t step = DAY / profiles;

    return MIDNIGHT + i * step + service * 7 * SECOND % step;
}

/* Of profile i of a service on one of its stacks. */
static int64_t value_of(int service, int i, int stack)
{
    return 1 + (service * 31 + i * 17 + stack * 7) % 97;
}

/* Each profile leaves one stack out. */
static bool has_stack(int service, int i, int stack)
{
    return (service + i) % STACKS != stack;
}

static int64_t truth(int service, int64_t from, int64_t to, int stack)
{
    int64_t sum = 0;

    for (int i = 0; i < profiles * DAYS; i++)
        if (time_of(service, i) >= from && time_of(service, i) <= to &&
            has_stack(service, i, stack))
            sum += value_of(service, i, stack);
    return sum;
}

static int64_t truth_of_fleet(int64_t from, int64_t to)
{
    int64_t sum = 0;

    for (int v = 0; v < SERVICES; v++)
        for (int stack = 0; stack < STACKS; stack++)
            sum += truth(v, from, to, stack);
    return sum;
}

/*
 * Sending.
 */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int under_way, failures;

static void sent(void *arg, enum store_status status,
                 const struct store_receipt *receipt, const struct error *err)
{
    (void)arg;
    (void)receipt;
    (void)err;
    pthread_mutex_lock(&lock);
    under_way--;
    failures += status != STORE_OK;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

static void wait_below(int n)
{
    pthread_mutex_lock(&lock);
    while (under_way >= n)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void send(struct store *s, int service, int i)
{
    struct buf text = BUF_INIT(BUF_NO_LIMIT), bytes = BUF_INIT(BUF_NO_LIMIT);
    struct profile *p;
    struct store_put put;
    struct error err;
    char name[32];

    buf_addf(&text, "types cpu/count\n");
    for (int stack = 0; stack < STACKS; stack++)
        if (has_stack(service, i, stack))
            buf_addf(&text, "main;serve%d;work%d %lld\n", service % 9, stack,
                     (long long)value_of(service, i, stack));
    buf_add_char(&text, '\0');
    p = sketch(text.data);
    profile_encode(p, &bytes);
    snprintf(name, sizeof(name), "service-%03d", service);
    put = put_of(buf_str(&bytes), name, "cpu");
    put.created_at_ns = time_of(service, i);
    wait_below(500);
    pthread_mutex_lock(&lock);
    under_way++;
    pthread_mutex_unlock(&lock);
    EXPECT(store_put(s, &put, sent, NULL, &err) == STORE_OK);
    profile_free(p);
    buf_release(&text);
    buf_release(&bytes);
}

/* One day: what comes, comes in the order of time. */
static void live_a_day(struct store *s, int day)
{
    struct store_stats stats;

    for (int i = day * profiles; i < (day + 1) * profiles; i++) {
        now_ns = MIDNIGHT + (int64_t)(i + 1) * (DAY / profiles);
        for (int v = 0; v < SERVICES; v++)
            send(s, v, i);
        wait_below(1);
    }
    now_ns = MIDNIGHT + (day + 1) * DAY + HOUR; /* the night's work */
    EXPECT(sqlite_store_seal_all(s, &(struct error){0}));
    while (sqlite_store_work(s))
        continue;
    store_get_stats(s, &stats);
    if (stats.background_errors)
        printf("# background: %s\n", stats.last_background_error);
    EXPECT(stats.background_errors == 0 && failures == 0);
}

/*
 * Asking.
 */

static struct store_query window(struct store_matcher *m, const char *service,
                                 int64_t from, int64_t to)
{
    *m = (struct store_matcher){
        .field = STORE_SERVICE, .op = STORE_EQUAL, .value = str_from(service)};
    return (struct store_query){m, 1, from, to};
}

static int64_t value_on(const struct profile *p, int stack)
{
    char name[16];
    int64_t sum = 0;

    snprintf(name, sizeof(name), "work%d", stack);
    for (size_t i = 0; i < p->n_samples; i++) {
        const struct location *l = &p->locations.v[p->stack[p->loc_start[i]]];
        const struct function *f =
            &p->functions.v[p->lines.v[l->line_start].function];

        if (str_eq(profile_str(p, f->name), str_from(name)))
            sum += p->values[i];
    }
    return sum;
}

static bool merge_is_true(struct store *s, int service, int64_t from,
                          int64_t to)
{
    struct store_matcher m;
    struct store_query q;
    struct profile *p = NULL;
    struct error err;
    char name[32];
    enum store_status status;
    bool same = true;

    snprintf(name, sizeof(name), "service-%03d", service);
    q = window(&m, name, from, to);
    status = store_merge(s, &q, STORE_AS_SENT, NULL, &p, NULL, &err);
    for (int stack = 0; stack < STACKS; stack++) {
        int64_t want = truth(service, from, to, stack);
        int64_t got = status == STORE_OK ? value_on(p, stack) : 0;

        if (got != want)
            printf("# %s stack %d: %lld, not %lld\n", name, stack,
                   (long long)got, (long long)want);
        same = same && got == want;
    }
    profile_free(p);
    return same;
}

static bool add_point(void *arg, const struct store_point *p)
{
    *(int64_t *)arg += p->sum;
    return true;
}

static bool add_function(void *arg, const struct store_function_point *p)
{
    ((int64_t *)arg)[0] += p->flat;
    ((int64_t *)arg)[1] += p->total;
    return true;
}

static bool series_is_true(struct store *s, int64_t from, int64_t to,
                           int64_t step)
{
    struct store_series q = {
        .query = {NULL, 0, from, to}, .step_ns = step, .by_service = true};
    struct error err;
    int64_t sum = 0, want = truth_of_fleet(from, to);
    bool ok =
        store_series(s, &q, NULL, add_point, &sum, NULL, &err) == STORE_OK;

    if (sum != want)
        printf("# series: %lld, not %lld\n", (long long)sum, (long long)want);
    return ok && sum == want;
}

static bool function_is_true(struct store *s, int service, int64_t from,
                             int64_t to, int64_t step)
{
    struct store_matcher m;
    struct store_function q = {.step_ns = step, .name = STR("work3")};
    int64_t sums[2] = {0}, total = 0;
    struct error err;
    char name[32];

    snprintf(name, sizeof(name), "service-%03d", service);
    q.query = window(&m, name, from, to);
    for (int stack = 0; stack < STACKS; stack++)
        total += truth(service, from, to, stack);
    return store_function(s, &q, NULL, add_function, sums, NULL, &err) ==
               STORE_OK &&
           sums[0] == truth(service, from, to, 3) && sums[1] == total;
}

/* Whole steps of a level, which may be all that is left of them. */
static void ask(struct store *s, int64_t from, int64_t to, int64_t step)
{
    int64_t length = (to - from) / step;

    EXPECT(series_is_true(s, from, to - 1, step));
    for (int v = 0; v < SERVICES; v += 13) {
        int64_t a = from + v * 5 % length * step;
        int64_t b = a + (1 + v * 3 % length) * step;

        b = b < to ? b : to;
        EXPECT(merge_is_true(s, v, a, b - 1));
        EXPECT(function_is_true(s, v, a, b - 1, step));
    }
}

static bool count_one(void *arg, const struct store_profile *p)
{
    (void)p;
    ++*(uint64_t *)arg;
    return true;
}

/* Single ones that have not expired. */
static uint64_t count_profiles(struct store *s)
{
    struct store_query q = everything();
    struct error err;
    uint64_t n = 0;

    store_list(s, &q, NULL, NULL, count_one, &n, NULL, &err);
    return n;
}

static size_t bytes_on_disk(struct store *s)
{
    struct store_stats stats;

    store_get_stats(s, &stats);
    return stats.disk_bytes;
}

TEST(a_fleet_lives_for_days_and_every_sum_is_exact)
{
    /* A day is left as profiles, then as minutes, as hours, as one sum. */
    static const struct store_retention keep = {
        .max_age_ns = {DAY, 2 * DAY, 3 * DAY, 4 * DAY}};
    size_t sizes[DAYS];
    struct store_options o;
    struct store *s;

    if (getenv("PPROF_FLEET_PROFILES"))
        profiles = (int)strtol(getenv("PPROF_FLEET_PROFILES"), NULL, 10);
    store_place();
    o = store_test_options();
    o.now_ns = fleet_clock;
    o.levels = 1u << STORE_MINUTE | 1u << STORE_HOUR | 1u << STORE_DAY;
    o.retention = &keep;
    o.n_retention = 1;
    now_ns = MIDNIGHT;
    s = store_reopen(&o);
    for (int day = 0; day < DAYS; day++) {
        int64_t start = MIDNIGHT + day * DAY;

        live_a_day(s, day);
        sizes[day] = bytes_on_disk(s);
        printf("# day %d: %.1f MB\n", day + 1, (double)sizes[day] / 1e6);
        ask(s, start, start + DAY, MINUTE);
        ask(s, start, start + DAY, HOUR);
        ask(s, start, start + DAY, DAY);
        EXPECT(merge_is_true(s, 5, start + 777 * SECOND,
                             start + DAY - 12345 * SECOND));
        if (day >= 1)
            ask(s, start - DAY, start, MINUTE);
        if (day >= 2)
            ask(s, start - 2 * DAY, start - DAY, HOUR);
        if (day >= 3)
            ask(s, start - 3 * DAY, start - 2 * DAY, DAY);
        EXPECT(count_profiles(s) == (uint64_t)SERVICES * (unsigned)profiles);
    }
    /* Once expiry has begun the store does not grow any more. */
    EXPECT(sizes[DAYS - 1] < sizes[DAYS - 2] * 11 / 10);
    EXPECT(sizes[DAYS - 2] < sizes[DAYS - 3] * 11 / 10);
    store_close(s);
    s = store_reopen(&o);
    ask(s, MIDNIGHT + (DAYS - 3) * DAY, MIDNIGHT + DAYS * DAY, HOUR);
    store_close(s);
    store_clean();
}

TEST_MAIN
