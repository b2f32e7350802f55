/*
 * What happens to profiles after they have arrived: joining, sums, changes of
 * cumulative profiles, and the questions that are asked of all of it.
 */
#include "test.h"

#include <sys/stat.h>

#include "random_profile.h"
#include "sketch.h"
#include "store_clock.h"

/*
 * Many random profiles over two days, and their sum.
 */
enum { MANY = 120 };

struct many {
    struct profile *p[MANY];
    struct store_id ids[MANY];
    int64_t t[MANY];
};

static void put_many(struct store *s, struct many *m, uint64_t *state)
{
    struct error err;

    for (int i = 0; i < MANY; i++) {
        m->p[i] = random_profile(state, -3);
        m->p[i]->default_type = m->p[i]->doc_url = 0; /* first of any order */
        m->t[i] =
            MIDNIGHT + (int64_t)random_below(state, 48 * 60) * 60 * SECOND;
        m->p[i]->time_ns = m->t[i];
        EXPECT(put_profile(s, m->p[i], "random", "cpu", 0, &m->ids[i]));
        if (i % 10 == 9)
            EXPECT(sqlite_store_seal_all(s, &err));
    }
}

static void free_many(struct many *m)
{
    for (int i = 0; i < MANY; i++)
        profile_free(m->p[i]);
}

static bool many_equal(struct store *s, const struct many *m)
{
    for (int i = 0; i < MANY; i++)
        if (!stored_equals(s, &m->ids[i], m->p[i]))
            return false;
    return true;
}

/* Does the merge of a range equal that of the profiles in it? */
static bool range_equal(struct store *s, const struct many *m, int64_t from,
                        int64_t to)
{
    struct store_query q = {.from_ns = from, .to_ns = to};
    struct profile *list[MANY], *want, *got;
    struct error err;
    size_t n = 0;
    bool same;

    for (int i = 0; i < MANY; i++)
        if (m->t[i] >= from && m->t[i] <= to)
            list[n++] = m->p[i];
    if (n == 0)
        return true;
    want = profile_merge(list, n, &err);
    got = merged(s, &q, STORE_AS_SENT);
    same = got && sums_equal(got, want);
    profile_free(want);
    profile_free(got);
    return same;
}

TEST(small_segments_are_joined_into_one_per_day)
{
    struct many m;
    struct store_options o;
    struct store *s;
    uint64_t state = random_seed();

    store_place();
    o = clocked();
    now_ns = MIDNIGHT + 3 * DAY;
    s = store_reopen(&o);
    put_many(s, &m, &state);
    EXPECT(stats_of(s).segments >= 12);
    EXPECT(many_equal(s, &m));
    work_off(s);
    EXPECT(stats_of(s).segments == 2);
    EXPECT(many_equal(s, &m));
    EXPECT(range_equal(s, &m, INT64_MIN, INT64_MAX));
    store_close(s);
    s = store_reopen(&o);
    EXPECT(many_equal(s, &m));
    store_close(s);
    free_many(&m);
    store_clean();
}

TEST(segments_of_the_day_at_hand_are_joined_when_there_are_many)
{
    struct store_options o;
    struct store *s;
    struct profile *p = sketch("types x/count\nmain;a 1\n");
    struct error err;

    store_place();
    o = clocked();
    now_ns = MIDNIGHT + HOUR;
    s = store_reopen(&o);
    for (int i = 0; i < 7; i++) {
        put_profile(s, p, "api", "cpu", MIDNIGHT + i, NULL);
        EXPECT(sqlite_store_seal_all(s, &err));
    }
    work_off(s);
    EXPECT(stats_of(s).segments == 7);
    put_profile(s, p, "api", "cpu", MIDNIGHT + 8, NULL);
    EXPECT(sqlite_store_seal_all(s, &err));
    work_off(s);
    EXPECT(stats_of(s).segments == 1);
    store_close(s);
    profile_free(p);
    store_clean();
}

TEST(sums_of_every_level_are_exact)
{
    struct many m;
    struct store_options o;
    struct store *s;
    uint64_t state = random_seed();

    store_place();
    o = clocked();
    o.levels = 1u << STORE_MINUTE | 1u << STORE_HOUR | 1u << STORE_DAY;
    now_ns = MIDNIGHT + 3 * DAY;
    s = store_reopen(&o);
    put_many(s, &m, &state);
    work_off(s);
    EXPECT(stats_of(s).downsamplings == 2); /* one segment for each day */
    EXPECT(range_equal(s, &m, INT64_MIN, INT64_MAX));
    for (int i = 0; i < 40; i++) {
        int64_t from = MIDNIGHT + (int64_t)random_below(&state, 48) * HOUR +
                       (int64_t)random_below(&state, 3) * 77 * SECOND;
        int64_t to =
            from + (int64_t)random_below(&state, 48 * 60) * 60 * SECOND;

        EXPECT(range_equal(s, &m, from, to));
    }
    EXPECT(many_equal(s, &m));
    store_close(s);
    free_many(&m);
    store_clean();
}

TEST(sums_are_made_again_when_profiles_come_late)
{
    struct store_options o;
    struct store *s;
    struct profile *p = sketch("types x/count\nmain;a 1\n"), *got;
    struct store_query q = {.from_ns = MIDNIGHT, .to_ns = MIDNIGHT + DAY - 1};
    struct error err;

    store_place();
    o = clocked();
    o.levels = 1u << STORE_DAY;
    now_ns = MIDNIGHT + 2 * DAY;
    s = store_reopen(&o);
    for (int late = 0; late < 3; late++) {
        put_profile(s, p, "api", "cpu", MIDNIGHT + HOUR, NULL);
        EXPECT(sqlite_store_seal_all(s, &err));
        got = merged(s, &q, STORE_AS_SENT);
        EXPECT(got && got->values[0] == late + 1);
        profile_free(got);
        work_off(s);
        got = merged(s, &q, STORE_AS_SENT);
        EXPECT(got && got->values[0] == late + 1);
        profile_free(got);
    }
    EXPECT(stats_of(s).downsamplings == 3);
    store_close(s);
    profile_free(p);
    store_clean();
}

/*
 * Changes.
 */

static void put_heap(struct store *s, const char *text, int minute)
{
    struct profile *p = sketch(text);

    EXPECT(put_profile(s, p, "api", "heap", MIDNIGHT + minute * 60 * SECOND,
                       NULL));
    profile_free(p);
}

static void expect_changes(struct store *s, const char *want)
{
    struct store_query q = everything();
    struct profile *got = merged(s, &q, STORE_CHANGES);
    struct profile *p = sketch(want);

    if (got) {
        got->time_ns = got->duration_ns = 0;
        got->comments.n = 0;
        EXPECT(sums_equal(got, p));
    } else {
        EXPECT(got != NULL);
    }
    profile_free(got);
    profile_free(p);
}

static void changes_with(bool seal_between)
{
    struct store_options o;
    struct store *s;
    struct error err;

    store_place();
    o = clocked();
    now_ns = MIDNIGHT + 3 * DAY;
    s = store_reopen(&o);
    for (int step = 0; step < 4; step++) {
        static const char *const heaps[] = {
            "types alloc_space/bytes inuse_space/bytes\nmain;a 100 10\n",
            "types alloc_space/bytes inuse_space/bytes\nmain;b 5 1\n"
            "main;a 130 20\n",
            "types alloc_space/bytes inuse_space/bytes\nmain;b 5 1\n"
            "main;a 170 5\n",
            /* A restart: the total went down. */
            "types alloc_space/bytes inuse_space/bytes\nmain;c 7 7\n",
        };

        put_heap(s, heaps[step], step);
        if (seal_between)
            EXPECT(sqlite_store_seal_all(s, &err));
    }
    expect_changes(s, "types alloc_space/bytes inuse_space/bytes\n"
                      "main;a 70 35\nmain;b 5 2\nmain;c 7 7\n");
    store_close(s);
    s = store_reopen(&o);
    EXPECT(sqlite_store_seal_all(s, &err));
    work_off(s);
    expect_changes(s, "types alloc_space/bytes inuse_space/bytes\n"
                      "main;a 70 35\nmain;b 5 2\nmain;c 7 7\n");
    store_close(s);
    store_clean();
}

TEST(cumulative_profiles_count_by_their_changes)
{
    changes_with(false);
}

TEST(changes_are_known_across_segments)
{
    changes_with(true);
}

TEST(changes_are_the_same_in_sums)
{
    struct store_options o;
    struct store *s;
    struct error err;

    store_place();
    o = clocked();
    o.levels = 1u << STORE_HOUR;
    now_ns = MIDNIGHT + 3 * DAY;
    s = store_reopen(&o);
    for (int i = 0; i < 100; i++) {
        char text[200];

        snprintf(text, sizeof(text),
                 "types alloc_space/bytes inuse_space/bytes\n"
                 "main;a %d 1\nmain;b 5 1\n",
                 100 + 3 * i);
        put_heap(s, text, i);
    }
    EXPECT(sqlite_store_seal_all(s, &err));
    work_off(s);
    EXPECT(stats_of(s).downsamplings == 1);
    expect_changes(s, "types alloc_space/bytes inuse_space/bytes\n"
                      "main;a 297 100\nmain;b 0 100\n");
    store_close(s);
    store_clean();
}

TEST(declared_deltas_count_whole)
{
    struct store_options o;
    struct store *s;
    struct profile *p = sketch("types alloc_space/bytes\nmain;a 5\n");
    struct buf bytes = BUF_INIT(BUF_NO_LIMIT);
    struct store_put put;
    struct error err;

    store_place();
    o = clocked();
    s = store_reopen(&o);
    profile_encode(p, &bytes);
    put = put_of(buf_str(&bytes), "api", "heap");
    put.is_delta = true;
    for (int i = 0; i < 3; i++)
        EXPECT(put_wait(s, &put, NULL, &err) == STORE_OK);
    expect_changes(s, "types alloc_space/bytes\nmain;a 15\n");
    store_close(s);
    buf_release(&bytes);
    profile_free(p);
    store_clean();
}

/*
 * Questions.
 */

static bool add_point(void *arg, const struct store_point *p)
{
    buf_addf(arg, "%" STR_FMT " %lld %" STR_FMT " %lld %llu\n",
             STR_ARG(p->group), (long long)((p->t_ns - MIDNIGHT) / SECOND),
             STR_ARG(p->type), (long long)p->sum,
             (unsigned long long)p->profiles);
    return true;
}

static bool add_function(void *arg, const struct store_function_point *p)
{
    buf_addf(arg, "%lld %lld %lld %lld\n",
             (long long)((p->t_ns - MIDNIGHT) / SECOND), (long long)p->flat,
             (long long)p->cum, (long long)p->total);
    return true;
}

static bool add_count(void *arg, const struct store_count *c)
{
    buf_addf(arg, "%" STR_FMT " %" STR_FMT " %llu\n", STR_ARG(c->text),
             STR_ARG(c->type), (unsigned long long)c->profiles);
    return true;
}

static bool add_times(void *arg, const struct store_count *c)
{
    buf_addf(arg, "%" STR_FMT " %llu %lld %lld\n", STR_ARG(c->text),
             (unsigned long long)c->profiles,
             (long long)((c->first_ns - MIDNIGHT) / SECOND),
             (long long)((c->last_ns - MIDNIGHT) / SECOND));
    return true;
}

/* The range may cut through a block; what lies inside it is not read, and
 * so does not count against the budget. */
static void ask_counts(struct store *s)
{
    struct store_budget small = {.profiles = 1};
    struct store_query q = everything();
    struct buf out = BUF_INIT(BUF_NO_LIMIT);
    struct error err;

    EXPECT(store_services(s, &q, &small, add_times, &out, &err) == STORE_OK);
    EXPECT_STR(buf_str(&out), "api 3 0 120\nweb 1 120 120\n");
    buf_clear(&out);
    q.from_ns = MIDNIGHT + SECOND;
    EXPECT(store_services(s, &q, NULL, add_times, &out, &err) == STORE_OK);
    EXPECT_STR(buf_str(&out), "api 2 60 120\nweb 1 120 120\n");
    buf_clear(&out);
    q.to_ns = MIDNIGHT + 100 * SECOND;
    EXPECT(store_services(s, &q, NULL, add_times, &out, &err) == STORE_OK);
    EXPECT_STR(buf_str(&out), "api 1 60 60\n");
    buf_release(&out);
}

static void put_labelled(struct store *s, const char *service,
                         const char *version, int minute, const char *text)
{
    struct store_label labels[] = {{STR("version"), str_from(version)},
                                   {STR("region"), STR("eu")}};
    struct profile *p = sketch(text);
    struct buf bytes = BUF_INIT(BUF_NO_LIMIT);
    struct store_put put;
    struct error err;

    profile_encode(p, &bytes);
    put = put_of(buf_str(&bytes), service, "cpu");
    put.created_at_ns = MIDNIGHT + minute * 60 * SECOND;
    put.labels = labels;
    put.n_labels = 2;
    EXPECT(put_wait(s, &put, NULL, &err) == STORE_OK);
    buf_release(&bytes);
    profile_free(p);
}

static void ask(struct store *s)
{
    struct store_query q = everything();
    struct store_series lines = {
        .query = q, .step_ns = 120 * SECOND, .group_by = STR("version")};
    struct store_function f = {
        .query = q, .step_ns = 120 * SECOND, .name = STR("a")};
    struct store_matcher only = {.field = STORE_LABEL,
                                 .op = STORE_NOT_EQUAL,
                                 .key = STR("version"),
                                 .value = STR("1")};
    struct buf out = BUF_INIT(BUF_NO_LIMIT);
    struct error err;

    EXPECT(store_series(s, &lines, NULL, add_point, &out, NULL, &err) ==
           STORE_OK);
    EXPECT_STR(buf_str(&out), "1 0 cpu 30 2\n"
                              "1 120 cpu 40 1\n"
                              "2 120 cpu 80 1\n");
    buf_clear(&out);
    EXPECT(store_function(s, &f, NULL, add_function, &out, NULL, &err) ==
           STORE_OK);
    EXPECT_STR(buf_str(&out), "0 10 30 30\n120 0 80 120\n");
    buf_clear(&out);
    EXPECT(store_services(s, &q, NULL, add_count, &out, &err) == STORE_OK);
    EXPECT_STR(buf_str(&out), "api cpu 3\nweb cpu 1\n");
    buf_clear(&out);
    EXPECT(store_label_names(s, &q, NULL, add_count, &out, &err) == STORE_OK);
    EXPECT_STR(buf_str(&out), "region  4\nversion  4\n");
    buf_clear(&out);
    EXPECT(store_label_values(s, &q, STR("version"), NULL, add_count, &out,
                              &err) == STORE_OK);
    EXPECT_STR(buf_str(&out), "1  3\n2  1\n");
    buf_clear(&out);
    q.matchers = &only;
    q.n_matchers = 1;
    EXPECT(store_services(s, &q, NULL, add_count, &out, &err) == STORE_OK);
    EXPECT_STR(buf_str(&out), "web cpu 1\n");
    buf_release(&out);
}

TEST(questions_get_the_same_answers_from_memory_and_disk)
{
    struct store_options o;
    struct store *s;
    struct error err;

    store_place();
    o = clocked();
    now_ns = MIDNIGHT + HOUR;
    s = store_reopen(&o);
    put_labelled(s, "api", "1", 0, "types samples/count cpu/ns\nmain;a 1 10\n");
    put_labelled(s, "api", "1", 1,
                 "types samples/count cpu/ns\nmain;a;b 2 20\n");
    put_labelled(s, "api", "1", 2, "types samples/count cpu/ns\nmain;b 4 40\n");
    put_labelled(s, "web", "2", 2,
                 "types samples/count cpu/ns\nmain;a;b 8 80\n");
    ask(s);
    ask_counts(s);
    EXPECT(sqlite_store_seal_all(s, &err));
    ask(s);
    ask_counts(s);
    store_close(s);
    store_clean();
}

static struct store_version version_of(struct store *s, int minutes)
{
    struct store_query q = everything();
    struct store_version v = {0};
    struct error err;

    q.from_ns = MIDNIGHT;
    q.to_ns = MIDNIGHT + minutes * 60 * SECOND;
    EXPECT(store_get_version(s, &q, NULL, &v, &err) == STORE_OK);
    return v;
}

static bool same_version(struct store_version a, struct store_version b)
{
    return a.hash == b.hash && a.profiles == b.profiles &&
           a.newest_ns == b.newest_ns;
}

TEST(a_version_changes_with_the_profiles_and_with_nothing_else)
{
    const char *text = "types samples/count cpu/ns\nmain;a 1 10\n";
    struct store_version empty, one, hour, other;
    struct store_options o;
    struct store *s;
    struct error err;

    store_place();
    o = clocked();
    now_ns = MIDNIGHT + HOUR;
    s = store_reopen(&o);
    empty = version_of(s, 60);
    EXPECT(empty.profiles == 0 && empty.newest_ns == INT64_MIN);
    put_labelled(s, "api", "1", 5, text);
    one = version_of(s, 10);
    EXPECT(one.profiles == 1);
    /* The same content elsewhere in the range, and in another series. */
    put_labelled(s, "api", "1", 7, text);
    hour = version_of(s, 10);
    EXPECT(!same_version(one, hour));
    EXPECT(same_version(one, version_of(s, 6)));
    put_labelled(s, "api", "2", 40, text);
    other = version_of(s, 60);
    EXPECT(!same_version(hour, other));
    EXPECT(same_version(hour, version_of(s, 10)));
    EXPECT(sqlite_store_seal_all(s, &err));
    EXPECT(same_version(hour, version_of(s, 10)));
    EXPECT(same_version(other, version_of(s, 60)));
    store_close(s);
    s = store_reopen(&o);
    EXPECT(same_version(other, version_of(s, 60)));
    store_close(s);
    store_clean();
}

static bool add_grouped(void *arg, const struct store_point *p)
{
    buf_addf(arg, "%" STR_FMT " %" STR_FMT " %" STR_FMT " %lld %lld\n",
             STR_ARG(p->service), STR_ARG(p->profile_type), STR_ARG(p->group),
             (long long)p->sum,
             (long long)((p->newest_ns - MIDNIGHT) / SECOND));
    return true;
}

TEST(courses_by_service_type_and_label_at_once)
{
    struct store_series lines = {.query = everything(),
                                 .by_service = true,
                                 .by_type = true,
                                 .group_by = STR("version")};
    struct buf out = BUF_INIT(BUF_NO_LIMIT);
    struct store_options o;
    struct store *s;
    struct error err;

    store_place();
    o = clocked();
    now_ns = MIDNIGHT + HOUR;
    s = store_reopen(&o);
    put_labelled(s, "web", "2", 2, "types cpu/ns\nmain 8\n");
    put_labelled(s, "api", "2", 3, "types cpu/ns\nmain 4\n");
    put_labelled(s, "api", "1", 1, "types cpu/ns\nmain 2\n");
    put_labelled(s, "api", "1", 0, "types cpu/ns\nmain 1\n");
    EXPECT(store_series(s, &lines, NULL, add_grouped, &out, NULL, &err) ==
           STORE_OK);
    EXPECT_STR(buf_str(&out), "api cpu 1 3 60\n"
                              "api cpu 2 4 180\n"
                              "web cpu 2 8 120\n");
    buf_release(&out);
    store_close(s);
    store_clean();
}

struct page_seen {
    int64_t last_ns;
    struct store_id last_id;
    size_t n;
    bool ordered;
};

static bool see_page(void *arg, const struct store_profile *p)
{
    struct page_seen *seen = arg;

    seen->ordered &= seen->n == 0 || p->created_at_ns <= seen->last_ns;
    seen->last_ns = p->created_at_ns;
    seen->last_id = p->id;
    seen->n++;
    return true;
}

TEST(listings_come_in_pages)
{
    struct store_options o;
    struct store *s;
    struct profile *p = sketch("types x/count\nmain;a 1\n");
    struct store_query q = everything();
    struct store_page page = {.limit = 7, .newest_first = true};
    struct page_seen seen = {.ordered = true};
    struct error err;
    size_t pages = 0, before;

    store_place();
    o = clocked();
    now_ns = MIDNIGHT + DAY;
    s = store_reopen(&o);
    for (int i = 0; i < 30; i++) {
        put_profile(s, p, i % 2 ? "a" : "b", "cpu", MIDNIGHT + i / 3 * SECOND,
                    NULL);
        if (i == 15)
            EXPECT(sqlite_store_seal_all(s, &err));
    }
    do {
        before = seen.n;
        EXPECT(store_list(s, &q, &page, NULL, see_page, &seen, NULL, &err) ==
               STORE_OK);
        page.after_ns = seen.last_ns;
        page.after_id = seen.last_id;
        pages++;
    } while (seen.n > before);
    EXPECT(seen.n == 30 && pages == 6 && seen.ordered);
    store_close(s);
    profile_free(p);
    store_clean();
}

static bool always(void *arg)
{
    (void)arg;
    return true;
}

TEST(queries_stop_at_their_limits)
{
    struct store_options o;
    struct store *s;
    struct profile *p = sketch("types x/count\nmain;a 1\n"), *got;
    struct store_query q = everything();
    struct store_budget budget = {.profiles = 5};
    struct store_progress progress;
    struct error err;

    store_place();
    o = clocked();
    s = store_reopen(&o);
    for (int i = 0; i < 10; i++)
        put_profile(s, p, "api", "cpu", MIDNIGHT + i, NULL);
    EXPECT(store_merge(s, &q, STORE_AS_SENT, &budget, &got, &progress, &err) ==
           STORE_LIMITED);
    EXPECT(progress.profiles == 6 && strcmp(progress.limit, "profiles") == 0);
    EXPECT_STR(str_from(err.text), "the query's limit of profiles is reached "
                                   "after 6 profiles");
    budget = (struct store_budget){.bytes = 30};
    EXPECT(store_merge(s, &q, STORE_AS_SENT, &budget, &got, &progress, &err) ==
           STORE_LIMITED);
    EXPECT(strcmp(progress.limit, "bytes") == 0);
    budget = (struct store_budget){.cancelled = always};
    EXPECT(store_merge(s, &q, STORE_AS_SENT, &budget, &got, &progress, &err) ==
           STORE_CANCELLED);
    store_close(s);
    profile_free(p);
    store_clean();
}

TEST_MAIN

/*
 * Space.
 */

static bool add_usage(void *arg, const struct store_usage *u)
{
    struct store_usage *sum = arg;

    sum->profiles += u->profiles;
    sum->posted_bytes += u->posted_bytes;
    sum->stored_bytes += u->stored_bytes;
    return true;
}

static struct store_usage usage_of(struct store *s)
{
    struct store_usage sum = {0};
    struct error err;

    EXPECT(store_get_usage(s, add_usage, &sum, &err) == STORE_OK);
    return sum;
}

static void print_finding(void *arg, const char *finding)
{
    (void)arg;
    printf("# %s\n", finding);
}

static uint64_t head_bytes(void)
{
    static const char *const names[] = {"head.db", "head.db-wal"};
    uint64_t bytes = 0;
    struct stat st;
    char path[8192];

    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof(path), "%s/%s", store_dir, names[i]);
        if (stat(path, &st) == 0)
            bytes += (uint64_t)st.st_size;
    }
    return bytes;
}

TEST(usage_and_check_count_what_is_not_sealed)
{
    struct store *s;
    struct store_check_result result;
    struct store_usage open, sealed;
    uint64_t state = 5;
    struct many m;
    struct error err;

    store_place();
    s = store_reopen(NULL);
    put_many(s, &m, &state);
    for (int i = 0; i < 7; i++)
        EXPECT(put_profile(s, m.p[i], "late", "wall", 0, NULL));
    open = usage_of(s);
    EXPECT(open.profiles == MANY + 7);
    store_close(s);
    EXPECT(sqlite_store_check(store_dir, print_finding, NULL, &result, &err));
    EXPECT(result.profiles == MANY + 7);
    s = store_reopen(NULL);
    EXPECT(usage_of(s).profiles == MANY + 7);
    EXPECT(sqlite_store_seal_all(s, &err));
    sealed = usage_of(s);
    EXPECT(sealed.profiles == MANY + 7);
    EXPECT(sealed.posted_bytes == open.posted_bytes);
    store_close(s);
    free_many(&m);
    store_clean();
}

TEST(the_log_shrinks_when_profiles_are_sealed)
{
    struct store *s;
    uint64_t state = 6, before;
    struct error err;

    store_place();
    s = store_reopen(NULL);
    for (int i = 0; i < 200; i++) {
        struct profile *p = random_profile(&state, -3);

        EXPECT(put_profile(s, p, "random", "cpu", 0, NULL));
        profile_free(p);
    }
    before = head_bytes();
    EXPECT(sqlite_store_seal_all(s, &err));
    EXPECT(head_bytes() < before / 4);
    store_close(s);
    store_clean();
}
