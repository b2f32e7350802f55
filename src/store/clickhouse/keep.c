/*
 * Retention.  A day whose last moment has expired for every rule is dropped as
 * a partition, and a week of records with its last day.  If a day has expired
 * only for some services or types, their rows are deleted by a mutation.  Any
 * collector may do it, and it does no harm if several do.
 *
 * The order is such that nothing refers to what is gone: readers leave the
 * sums of a level before they are dropped, and names and stacks go last.
 */
#include "store/clickhouse/keep.h"

#include <time.h>

#include "base/clock.h"
#include "store/clickhouse/make_sums.h"
#include "store/clickhouse/rowbin.h"
#include "store/clickhouse/sql.h"

#define FIRST_NS (60 * SECOND) /* somebody may have mistyped an age */
#define EVERY_NS (600 * SECOND)

enum {
    WEEK = 7,
    LAST_DAYS = 2, /* that profiles or sums may stay after their time */
};

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

unsigned keep_first_day(const struct ch_store *s,
                        const struct store_retention *rule, unsigned level)
{
    int64_t age_ns = rule->max_age_ns[level];
    int64_t end = put_now(&s->opt) - age_ns;

    return age_ns > 0 && end > 0 ? day_of(end) : 0;
}

unsigned keep_wanted(const struct ch_store *s,
                     const struct store_retention *rule, unsigned day)
{
    unsigned wanted = 0;

    for (unsigned level = STORE_MINUTE; level < STORE_LEVELS; level++)
        if (s->opt.levels & 1u << level &&
            keep_first_day(s, rule, level) <= day)
            wanted |= 1u << level;
    return wanted;
}

/* The same for what all levels need: names and stacks. */
enum { ALL_LEVELS = STORE_LEVELS };

static unsigned first_day(const struct ch_store *s,
                          const struct store_retention *rule, unsigned level)
{
    unsigned first =
        keep_first_day(s, rule, level == ALL_LEVELS ? STORE_RAW : level);

    for (unsigned i = STORE_MINUTE; level == ALL_LEVELS && i < STORE_LEVELS;
         i++)
        if (s->opt.levels & 1u << i && keep_first_day(s, rule, i) < first)
            first = keep_first_day(s, rule, i);
    return first;
}

/*
 * Days before this one have expired for all types of a service, or for
 * everything if it is "".
 */
static unsigned first_day_of(const struct ch_store *s,
                             const struct retention *r, struct str service,
                             unsigned level)
{
    unsigned first = UINT16_MAX;

    for (size_t i = 0; i < r->n; i++) {
        const struct store_retention *rule = &r->rules[i];
        unsigned day = first_day(s, rule, level);

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

/* What the i-th rule decides about: what matches none before it. */
static void add_share(struct buf *sql, const struct retention *r, size_t i)
{
    add_rule(sql, &r->rules[i]);
    for (size_t j = 0; j < i; j++) {
        buf_add(sql, STR(" AND NOT "));
        add_rule(sql, &r->rules[j]);
    }
}

/* --- removing it ---------------------------------------------------------- */

bool keep_drop(struct ch_store *s, const char *table, struct str partition,
               struct error *err)
{
    return ch_exec(s->client, err,
                   "ALTER TABLE %s%s%s%s DROP PARTITION %" STR_FMT, table,
                   s->cluster ? "_local" : "", s->cluster ? " ON CLUSTER " : "",
                   s->cluster ? s->cluster : "",
                   STR_ARG(partition)) == STORE_OK;
}

/* Partitions of a table whose last day is before the one given.  The names of
 * those of a level begin with "(LEVEL,". */
static bool drop_before(struct ch_store *s, const char *table, unsigned level,
                        unsigned day, unsigned days, struct error *err)
{
    struct buf sql = BUF_INIT(4096), reply = BUF_INIT((size_t)1 << 20);
    struct ch_request r = {.out = &reply};
    struct str rest, name;
    bool ok;

    buf_addf(&sql,
             "SELECT DISTINCT %spartition%s FROM system.parts WHERE active AND "
             "database = '%" STR_FMT "' AND table = '%s%s' AND ",
             level ? "" : "concat('\\'', ", level ? "" : ", '\\'')",
             STR_ARG(ch_database(s->client)), table,
             s->cluster ? "_local" : "");
    if (level)
        buf_addf(&sql, "substring(partition, 1, 3) = '(%u,' AND ", level);
    buf_addf(&sql, "toUInt16(toDate(%s)) + %u <= %u FORMAT TabSeparatedRaw",
             level ? "substring(partition, 5, 10)" : "partition", days, day);
    r.sql = buf_str(&sql);
    ok = ch_run(s->client, &r, err) == STORE_OK;
    rest = buf_str(&reply);
    while (ok && str_next_line(&rest, &name))
        if (name.n == (level ? 16 : 12)) /* as it was written */
            ok = keep_drop(s, table, name, err);
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

bool keep_delete(struct ch_store *s, const char *table, struct str where,
                 struct error *err)
{
    const char *local = s->cluster ? "_local" : "";
    struct buf sql = BUF_INIT((size_t)16 << 20);
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
    buf_clear(&sql);
    buf_addf(&sql, "ALTER TABLE %s%s%s%s DELETE WHERE %" STR_FMT, table, local,
             s->cluster ? " ON CLUSTER " : "", s->cluster ? s->cluster : "",
             STR_ARG(where));
    if (ok && rows && !mutations) {
        struct ch_request r = {.sql = buf_str(&sql)};

        ok = buf_ok(&sql) ? ch_run(s->client, &r, err) == STORE_OK
                          : error_set(err, "out of memory");
    }
    buf_release(&sql);
    return ok;
}

/* --- sums, names and stacks ----------------------------------------------- */

/* Readers stop to use the sums of a level a day before they are dropped. */
static bool retire(struct ch_store *s, const struct retention *r, size_t i,
                   unsigned level, struct error *err)
{
    unsigned day = keep_first_day(s, &r->rules[i], level);
    struct buf sql = BUF_INIT((size_t)1 << 20);
    struct ch_request ask = {.is_sync = s->cluster != NULL};
    bool ok = true;

    buf_addf(&sql,
             "INSERT INTO pprofd_builds (day, service, type, build, levels, "
             "profiles, state, at) SELECT day, service, type, build, "
             "bitAnd(groupBitAnd(levels), %u), max(profiles), max(state), "
             "max(at) FROM pprofd_builds WHERE state >= %d AND day < "
             "toDate(toUInt16(%u)) AND ",
             0xff & ~(1u << level), SUM_MADE, day);
    add_share(&sql, r, i);
    buf_addf(&sql,
             " GROUP BY day, service, type, build HAVING "
             "bitAnd(groupBitAnd(levels), %u) != 0",
             1u << level);
    ask.sql = buf_str(&sql);
    if (day)
        ok = buf_ok(&sql) ? ch_run(s->client, &ask, err) == STORE_OK
                          : error_set(err, "out of memory");
    buf_release(&sql);
    return ok;
}

static bool delete_sums(struct ch_store *s, const struct retention *r, size_t i,
                        unsigned level, unsigned dropped, struct error *err)
{
    unsigned day = keep_first_day(s, &r->rules[i], level);
    struct buf where = BUF_INIT((size_t)1 << 20);
    bool ok = true;

    if (day > dropped) {
        buf_addf(&where, "level = %u AND day < toDate(toUInt16(%u)) AND ",
                 level, day - 1);
        add_share(&where, r, i);
        ok = keep_delete(s, "pprofd_sums", buf_str(&where), err);
    }
    buf_release(&where);
    return ok;
}

static bool expire_sums(struct ch_store *s, const struct retention *r,
                        unsigned level, struct error *err)
{
    unsigned dropped = first_day_of(s, r, STR(""), level);
    bool ok = true;

    for (size_t i = 0; ok && i < r->n; i++)
        ok = retire(s, r, i, level, err);
    if (ok && dropped)
        ok = drop_before(s, "pprofd_sums", level, dropped, 2, err);
    for (size_t i = 0; ok && i < r->n; i++)
        ok = delete_sums(s, r, i, level, dropped, err);
    return ok;
}

/* Names and stacks of a service, when no level needs them any more. */
static bool delete_records(struct ch_store *s, const struct retention *r,
                           struct str service, unsigned dropped,
                           struct error *err)
{
    unsigned day = first_day_of(s, r, service, ALL_LEVELS);
    struct buf where = BUF_INIT((size_t)1 << 20);
    bool ok = true;

    if (day > dropped && day > WEEK + LAST_DAYS) {
        buf_addf(&where, "week <= toDate(toUInt16(%u)) AND service = ",
                 day - WEEK - LAST_DAYS);
        sql_text(&where, service);
        ok = keep_delete(s, "pprofd_records", buf_str(&where), err);
    }
    buf_release(&where);
    return ok;
}

static bool expire_rest(struct ch_store *s, const struct retention *r,
                        struct error *err)
{
    unsigned dropped = first_day_of(s, r, STR(""), ALL_LEVELS);
    bool ok = true;

    for (unsigned level = STORE_MINUTE; ok && level < STORE_LEVELS; level++)
        ok = expire_sums(s, r, level, err);
    if (ok && dropped)
        ok =
            drop_before(s, "pprofd_builds", 0, dropped, 1 + LAST_DAYS, err) &&
            drop_before(s, "pprofd_records", 0, dropped, WEEK + LAST_DAYS, err);
    for (size_t i = 0; ok && i < r->n; i++)
        if (r->rules[i].service.n)
            ok = delete_records(s, r, r->rules[i].service, dropped, err);
    return ok;
}

static void keep_once(struct ch_store *s, const struct retention *r)
{
    struct error err = {.text = ""};

    if (!atomic_load(&s->is_prepared))
        return;
    if (!keep_expire(s, r, &err))
        ch_background_error(s, &err);
    if (!expire_rest(s, r, &err))
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
