/*
 * What expires, when, and what is left of it.
 */
#include "test.h"

#include "sketch.h"
#include "store_clock.h"

static size_t count_files(const char *prefix)
{
    DIR *d = opendir(store_dir);
    struct dirent *e;
    size_t n = 0;

    while (d && (e = readdir(d)))
        n += strncmp(e->d_name, prefix, strlen(prefix)) == 0 &&
             strstr(e->d_name, ".db") == e->d_name + strlen(e->d_name) - 3;
    if (d)
        closedir(d);
    return n;
}

static bool count_one(void *arg, const struct store_profile *p)
{
    (void)p;
    ++*(size_t *)arg;
    return true;
}

static size_t count_profiles(struct store *s, const char *service)
{
    struct store_matcher m = {
        .field = STORE_SERVICE, .op = STORE_EQUAL, .value = str_from(service)};
    struct store_query q = {&m, 1, INT64_MIN, INT64_MAX};
    struct error err;
    size_t n = 0;

    if (store_list(s, &q, NULL, NULL, count_one, &n, NULL, &err) != STORE_OK)
        printf("# list: %s\n", err.text);
    return n;
}

TEST(what_is_too_old_goes_by_service_and_type)
{
    struct store_retention rules[] = {
        {.service = STR("keep")},
        {.service = STR(""), .max_age_ns = {2 * DAY}},
    };
    struct store_options o;
    struct store *s;
    struct profile *p = sketch("types x/count\nmain;a 1\n");
    struct error err;

    store_place();
    o = clocked();
    o.retention = rules;
    o.n_retention = 2;
    now_ns = MIDNIGHT + 10 * DAY;
    s = store_reopen(&o);
    for (int day = 0; day < 10; day++) {
        put_profile(s, p, "drop", "cpu", MIDNIGHT + day * DAY, NULL);
        if (day < 5)
            put_profile(s, p, "keep", "cpu", MIDNIGHT + day * DAY, NULL);
    }
    EXPECT(sqlite_store_seal_all(s, &err));
    EXPECT(count_files("day-") == 10);
    work_off(s);
    EXPECT(count_profiles(s, "drop") == 2);
    EXPECT(count_profiles(s, "keep") == 5);
    EXPECT(count_files("day-") == 7);
    store_close(s);
    profile_free(p);
    store_clean();
}

/*
 * Profiles that have expired are gone, though the log still has a part of
 * them for the sake of another service's.  `first` comes in first.
 */
static void expire_in_the_log(const char *first, const char *second,
                              const struct store_retention *rule,
                              uint64_t max_disk_bytes)
{
    struct store_options o = clocked();
    struct profile *p = sketch("types x/count\nmain;a 1\n");
    struct profile *q = sketch("types x/count\nmain;b 1\n");
    const char *order[] = {first, second, "old", "old"};
    struct store *s;

    o.seal_profiles = 3;
    o.retention = rule;
    o.n_retention = rule ? 1 : 0;
    o.max_disk_bytes = max_disk_bytes;
    now_ns = MIDNIGHT + 10 * DAY;
    s = store_reopen(&o);
    for (int i = 0; i < 4; i++)
        put_profile(s, i % 2 ? q : p, order[i], "cpu",
                    strcmp(order[i], "old") == 0 ? MIDNIGHT : now_ns, NULL);
    work_off(s);
    EXPECT(count_files("day-") == 0);
    EXPECT(count_profiles(s, "old") == 0);
    for (int i = 0; s && i < 2; i++) {
        store_close(s);
        s = store_reopen(&o);
        EXPECT(s != NULL);
        EXPECT(!s || count_profiles(s, "new") == 1);
        EXPECT(!s || count_profiles(s, "old") == 0);
        if (s)
            work_off(s);
    }
    store_close(s);
    profile_free(p);
    profile_free(q);
}

TEST(expired_profiles_leave_a_log_that_can_be_read)
{
    const struct store_retention rule = {.max_age_ns = {2 * DAY}};
    static const char *const orders[][2] = {{"old", "new"}, {"new", "old"}};

    for (int i = 0; i < 2; i++) {
        store_place();
        expire_in_the_log(orders[i][0], orders[i][1], &rule, 0);
        store_clean();
        store_place();
        expire_in_the_log(orders[i][0], orders[i][1], NULL, 1);
        store_clean();
    }
}

TEST(a_limit_on_the_disk_deletes_the_oldest_days)
{
    struct store_options o;
    struct store *s;
    struct profile *p = sketch("types x/count\nmain;a 1\n");
    struct error err;

    store_place();
    o = clocked();
    o.max_disk_bytes = 1;
    now_ns = MIDNIGHT + 4 * DAY + HOUR;
    s = store_reopen(&o);
    for (int day = 0; day < 5; day++)
        put_profile(s, p, "api", "cpu", MIDNIGHT + day * DAY, NULL);
    EXPECT(sqlite_store_seal_all(s, &err));
    work_off(s);
    EXPECT(count_files("day-") == 1); /* today's stays */
    EXPECT(count_profiles(s, "api") == 1);
    store_close(s);
    profile_free(p);
    store_clean();
}

TEST(profiles_go_when_their_sums_are_made_and_sums_answer)
{
    struct store_retention rule = {.max_age_ns = {DAY, 0, 0, 100 * DAY}};
    struct store_options o;
    struct store *s;
    struct profile *p = sketch("types x/count\nmain;a 3\n"), *got;
    struct store_query q = everything();
    struct error err;

    store_place();
    o = clocked();
    o.levels = 1u << STORE_DAY;
    o.retention = &rule;
    o.n_retention = 1;
    now_ns = MIDNIGHT + 5 * DAY;
    s = store_reopen(&o);
    for (int i = 0; i < 10; i++)
        put_profile(s, p, "api", "cpu", MIDNIGHT + i * HOUR, NULL);
    EXPECT(sqlite_store_seal_all(s, &err));
    work_off(s);
    EXPECT(count_files("day-") == 1);
    EXPECT(stats_of(s).expired_profiles == 10);
    EXPECT(count_profiles(s, "api") == 0);
    got = merged(s, &q, STORE_AS_SENT);
    EXPECT(got && got->n_samples == 1 && got->values[0] == 30);
    profile_free(got);
    store_close(s);
    s = store_reopen(&o);
    got = merged(s, &q, STORE_AS_SENT);
    EXPECT(got && got->values[0] == 30);
    profile_free(got);
    for (int late = 1; late < 4; late++) { /* also joined */
        put_profile(s, p, "api", "cpu", MIDNIGHT + HOUR, NULL);
        EXPECT(sqlite_store_seal_all(s, &err));
        work_off(s);
        got = merged(s, &q, STORE_AS_SENT);
        EXPECT(got && got->values[0] == 30 + 3 * late);
        profile_free(got);
    }
    EXPECT(stats_of(s).segments == 1 && count_profiles(s, "api") == 0);
    now_ns += 200 * DAY;
    work_off(s);
    EXPECT(count_files("day-") == 0);
    store_close(s);
    profile_free(p);
    store_clean();
}

/* The minutes of a range, which need not be whole hours. */
static int64_t sum_of(struct store *s, const char *service, const char *type,
                      int from, int to)
{
    struct store_matcher m[] = {
        {.field = STORE_SERVICE, .value = str_from(service)},
        {.field = STORE_TYPE, .value = str_from(type)}};
    struct store_query q = {.matchers = m,
                            .n_matchers = 2,
                            .from_ns = MIDNIGHT + from * 60 * SECOND,
                            .to_ns = MIDNIGHT + to * 60 * SECOND - 1};
    struct profile *p = merged(s, &q, STORE_AS_SENT);
    int64_t sum = p && p->n_samples ? p->values[0] : 0;

    profile_free(p);
    return sum;
}

TEST(sums_stand_for_the_series_whose_profiles_have_expired)
{
    struct store_retention rules[] = {
        {.service = STR("api"), .type = STR("cpu"), .max_age_ns = {DAY}},
        {.service = STR("")}};
    struct store_options o;
    struct store *s;
    struct profile *p = sketch("types x/count\nmain;a 1\n");
    static const char *const services[] = {"api", "api", "web"};
    static const char *const types[] = {"cpu", "heap", "cpu"};
    struct error err;

    store_place();
    o = clocked();
    o.levels = 1u << STORE_MINUTE | 1u << STORE_HOUR | 1u << STORE_DAY;
    o.retention = rules;
    o.n_retention = 2;
    now_ns = MIDNIGHT + 5 * DAY;
    s = store_reopen(&o);
    for (int i = 0; i < 300; i++)
        put_profile(s, p, services[i % 3], types[i % 3],
                    MIDNIGHT + i * 60 * SECOND, NULL);
    EXPECT(sqlite_store_seal_all(s, &err));
    work_off(s);
    EXPECT(stats_of(s).expired_profiles == 100);
    EXPECT(count_profiles(s, "api") == 100 && count_profiles(s, "web") == 100);
    for (int i = 0; i < 3; i++) {
        EXPECT(sum_of(s, services[i], types[i], 0, 1440) == 100);
        EXPECT(sum_of(s, services[i], types[i], 0, 60) == 20);
        EXPECT(sum_of(s, services[i], types[i], 30, 90) == 20);
        EXPECT(sum_of(s, services[i], types[i], 33, 213) == 60);
        EXPECT(sum_of(s, services[i], types[i], 33, 36) == 1);
    }
    store_close(s);
    profile_free(p);
    store_clean();
}

static void print_finding(void *arg, const char *finding)
{
    (void)arg;
    printf("# finding: %s\n", finding);
}

/* Nothing is lost when the clock of the machine is wrong for a while. */
TEST(the_clock_may_jump)
{
    static const int64_t jumps[] = {0, -3 * DAY, 30 * DAY, -400 * DAY, DAY, 0};
    struct profile *p = sketch("types x/count\nmain;a 1\n"), *got;
    struct store_query q = everything();
    struct store_check_result result;
    struct store_options o;
    struct store *s;
    struct error err;
    size_t n = 0;

    store_place();
    o = clocked();
    o.levels = 1u << STORE_MINUTE | 1u << STORE_HOUR | 1u << STORE_DAY;
    o.seal_profiles = 3;
    now_ns = MIDNIGHT + 1000 * DAY;
    s = store_reopen(&o);
    for (size_t i = 0; i < sizeof(jumps) / sizeof(*jumps); i++) {
        now_ns = MIDNIGHT + 1000 * DAY + jumps[i];
        for (int k = 0; k < 5; k++, n++) /* two wait in the log */
            EXPECT(put_profile(s, p, "api", "cpu", 0, NULL));
        work_off(s);
        store_close(s);
        s = store_reopen(&o);
        EXPECT(count_profiles(s, "api") == n);
    }
    EXPECT(sqlite_store_seal_all(s, &err));
    work_off(s);
    EXPECT(count_profiles(s, "api") == n);
    got = merged(s, &q, STORE_AS_SENT);
    EXPECT(got && got->values[0] == (int64_t)n);
    profile_free(got);
    store_close(s);
    EXPECT(sqlite_store_check(store_dir, print_finding, NULL, &result, &err));
    EXPECT(result.profiles == n);
    profile_free(p);
    store_clean();
}

TEST_MAIN
