/*
 * Retention.  A day whose last moment has expired for every rule is dropped as
 * a partition, and a week of records with its last day.  If a day has expired
 * only for some services or types, their rows are deleted by a mutation.  Any
 * collector may do it, and it does no harm if several do.
 */
#include <time.h>

#include "base/clock.h"
#include "store/clickhouse/engine.h"
#include "store/clickhouse/rowbin.h"
#include "store/clickhouse/sql.h"

#define FIRST_NS (60 * SECOND) /* somebody may have mistyped an age */
#define EVERY_NS (600 * SECOND)

enum { WEEK = 7 };

bool clickhouse_store_set_retention(struct store *store,
                                    const struct store_retention *rules,
                                    size_t n, uint64_t max_disk_bytes,
                                    struct error *err)
{
    struct ch_store *s = ch_of(store);
    struct retention copy;

    if (max_disk_bytes)
        return error_set(err, "storage.max_disk cannot be used with "
                              "ClickHouse; limit the age with retention.raw");
    for (size_t i = 0; i < n; i++)
        if (rules[i].max_bytes)
            return error_set(err, "max_bytes in a retention rule cannot be "
                                  "used with ClickHouse; limit the age");
    if (!retention_copy(rules, n, &copy))
        return error_set(err, "out of memory");
    pthread_mutex_lock(&s->keep_lock);
    retention_release(&s->retention);
    s->retention = copy;
    s->retention_changes++;
    pthread_cond_signal(&s->keep_wake);
    pthread_mutex_unlock(&s->keep_lock);
    return true;
}

/* --- what has expired ----------------------------------------------------- */

/* Days before this one have expired; 0: none. */
static unsigned first_kept(const struct ch_store *s,
                           const struct store_retention *rule)
{
    int64_t age_ns = rule->max_age_ns[STORE_RAW];
    int64_t end = put_now(&s->opt) - age_ns;

    return age_ns > 0 && end > 0 ? day_of(end) : 0;
}

/*
 * Days before this one have expired for all types of a service, or for
 * everything if it is "".
 */
static unsigned first_kept_of(const struct ch_store *s,
                              const struct retention *r, struct str service)
{
    unsigned first = UINT16_MAX;

    for (size_t i = 0; i < r->n; i++) {
        const struct store_retention *rule = &r->rules[i];
        unsigned day = first_kept(s, rule);

        if (service.n && rule->service.n && !str_eq(rule->service, service))
            continue;
        first = day < first ? day : first;
        if (!rule->type.n && (service.n || !rule->service.n))
            return first; /* later rules do not apply */
    }
    return 0;
}

static void add_rule(struct buf *sql, const struct store_retention *rule)
{
    buf_add(sql, STR("(1"));
    if (rule->service.n) {
        buf_add(sql, STR(" AND service = "));
        sql_text(sql, rule->service);
    }
    if (rule->type.n) {
        buf_add(sql, STR(" AND type = "));
        sql_text(sql, rule->type);
    }
    buf_add(sql, STR(")"));
}

/* --- removing it ---------------------------------------------------------- */

/* Partitions of a table whose last day is before the one given. */
static bool drop_before(struct ch_store *s, const char *table, unsigned day,
                        unsigned days, struct error *err)
{
    struct buf sql = BUF_INIT(4096), reply = BUF_INIT((size_t)1 << 20);
    struct ch_request r = {.out = &reply};
    struct str rest, name;
    bool ok;

    buf_addf(&sql,
             "SELECT DISTINCT partition FROM system.parts WHERE active AND "
             "database = '%" STR_FMT "' AND table = '%s%s' AND "
             "toUInt16(toDate(partition)) + %u <= %u FORMAT TabSeparated",
             STR_ARG(ch_database(s->client)), table, s->cluster ? "_local" : "",
             days, day);
    r.sql = buf_str(&sql);
    ok = ch_run(s->client, &r, err) == STORE_OK;
    rest = buf_str(&reply);
    while (ok && str_next_line(&rest, &name)) {
        if (name.n != 10) /* a date as it was written */
            continue;
        ok = ch_exec(s->client, err,
                     "ALTER TABLE %s%s%s%s DROP PARTITION '%" STR_FMT "'",
                     table, s->cluster ? "_local" : "",
                     s->cluster ? " ON CLUSTER " : "",
                     s->cluster ? s->cluster : "", STR_ARG(name)) == STORE_OK;
    }
    buf_release(&sql);
    buf_release(&reply);
    return ok;
}

static bool ask_number(struct ch_store *s, struct buf *sql, uint64_t *out,
                       struct error *err)
{
    struct buf reply = BUF_INIT(64);
    struct ch_request r = {.sql = buf_str(sql), .out = &reply};
    struct wire_reader at;
    bool ok = buf_ok(sql) ? ch_run(s->client, &r, err) == STORE_OK
                          : error_set(err, "out of memory");

    at = unpack_begin(buf_str(&reply));
    if (ok && !unrow_u64(&at, out))
        ok = error_set(err, "ClickHouse did not answer with a number");
    buf_release(&reply);
    return ok;
}

/* Unless there are none, or a deletion is under way: mutations rewrite whole
 * parts. */
static bool delete_rows(struct ch_store *s, const char *table, struct str where,
                        struct error *err)
{
    const char *local = s->cluster ? "_local" : "";
    struct buf sql = BUF_INIT((size_t)1 << 20);
    uint64_t rows = 0, mutations = 0;
    bool ok;

    buf_addf(&sql, "SELECT count() FROM %s WHERE %" STR_FMT " FORMAT RowBinary",
             table, STR_ARG(where));
    ok = ask_number(s, &sql, &rows, err);
    buf_clear(&sql);
    buf_addf(&sql,
             "SELECT count() FROM system.mutations WHERE database = "
             "'%" STR_FMT "' AND table = '%s%s' AND NOT is_done FORMAT "
             "RowBinary",
             STR_ARG(ch_database(s->client)), table, local);
    ok = ok && (!rows || ask_number(s, &sql, &mutations, err));
    buf_release(&sql);
    if (!ok || !rows || mutations)
        return ok;
    return ch_exec(s->client, err,
                   "ALTER TABLE %s%s%s%s DELETE WHERE %" STR_FMT, table, local,
                   s->cluster ? " ON CLUSTER " : "",
                   s->cluster ? s->cluster : "", STR_ARG(where)) == STORE_OK;
}

/* Rows of the rule's own services and types, in days that are not dropped. */
static bool apply_rule(struct ch_store *s, const struct retention *r, size_t i,
                       unsigned dropped, struct error *err)
{
    const struct store_retention *rule = &r->rules[i];
    unsigned day = first_kept(s, rule);
    struct buf where = BUF_INIT((size_t)1 << 20);
    bool ok = true;

    if (day > dropped) {
        buf_addf(&where, "day < toDate(toUInt16(%u)) AND ", day);
        add_rule(&where, rule);
        for (size_t j = 0; j < i; j++) {
            buf_add(&where, STR(" AND NOT "));
            add_rule(&where, &r->rules[j]);
        }
        ok = delete_rows(s, "pprofd_profiles", buf_str(&where), err) &&
             delete_rows(s, "pprofd_ids", buf_str(&where), err);
    }
    day = rule->service.n ? first_kept_of(s, r, rule->service) : 0;
    if (ok && day > dropped && day > WEEK) {
        buf_clear(&where);
        buf_addf(&where,
                 "week <= toDate(toUInt16(%u)) AND service = ", day - WEEK);
        sql_text(&where, rule->service);
        ok = delete_rows(s, "pprofd_records", buf_str(&where), err);
    }
    buf_release(&where);
    return ok;
}

static void keep_once(struct ch_store *s, const struct retention *r)
{
    struct error err = {.text = ""};
    unsigned dropped = first_kept_of(s, r, STR(""));
    bool ok = true;

    if (!atomic_load(&s->is_prepared))
        return;
    if (dropped)
        ok = drop_before(s, "pprofd_profiles", dropped, 1, &err) &&
             drop_before(s, "pprofd_ids", dropped, 1, &err) &&
             drop_before(s, "pprofd_records", dropped, WEEK, &err);
    for (size_t i = 0; ok && i < r->n; i++)
        ok = apply_rule(s, r, i, dropped, &err);
    if (!ok)
        ch_background_error(s, &err);
}

/* --- the thread ----------------------------------------------------------- */

static void *keep_loop(void *arg)
{
    struct ch_store *s = arg;
    int64_t pause_ns = FIRST_NS;
    unsigned seen;

    pthread_mutex_lock(&s->keep_lock);
    seen = s->retention_changes;
    for (;;) {
        struct timespec until = clock_timespec(clock_monotonic_ns() + pause_ns);
        struct retention rules;

        while (!s->keep_stop && seen == s->retention_changes)
            if (pthread_cond_timedwait(&s->keep_wake, &s->keep_lock, &until))
                break;
        if (s->keep_stop)
            break;
        seen = s->retention_changes;
        pause_ns = EVERY_NS;
        if (!retention_copy(s->retention.rules, s->retention.n, &rules))
            continue;
        pthread_mutex_unlock(&s->keep_lock);
        keep_once(s, &rules);
        retention_release(&rules);
        pthread_mutex_lock(&s->keep_lock);
    }
    pthread_mutex_unlock(&s->keep_lock);
    return NULL;
}

bool ch_keeper_start(struct ch_store *s, struct error *err)
{
    s->has_keeper = pthread_create(&s->keeper, NULL, keep_loop, s) == 0;
    return s->has_keeper || error_set(err, "no thread for retention");
}

void ch_keeper_stop(struct ch_store *s)
{
    if (!s->has_keeper)
        return;
    pthread_mutex_lock(&s->keep_lock);
    s->keep_stop = true;
    pthread_cond_signal(&s->keep_wake);
    pthread_mutex_unlock(&s->keep_lock);
    pthread_join(s->keeper, NULL);
    s->has_keeper = false;
}
