/*
 * Retention: whole days are dropped once the last moment of them has expired,
 * and a week of records with its last day.  Any collector may do it, and it
 * does no harm if several do.
 */
#include <inttypes.h>
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

    if (max_disk_bytes)
        return error_set(err, "storage.max_disk cannot be used with "
                              "ClickHouse; limit the age with retention.raw");
    for (size_t i = 0; i < n; i++)
        if (rules[i].service.n || rules[i].type.n || rules[i].max_bytes)
            return error_set(err,
                             "retention rules for single services or types, "
                             "and limits of their size, cannot be used with "
                             "ClickHouse; use retention.raw");
    pthread_mutex_lock(&s->keep_lock);
    s->keep_ns = n ? rules[0].max_age_ns[STORE_RAW] : 0;
    pthread_cond_signal(&s->keep_wake);
    pthread_mutex_unlock(&s->keep_lock);
    return true;
}

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

static void keep_once(struct ch_store *s, int64_t keep_ns)
{
    struct error err = {.text = ""};
    int64_t end = put_now(&s->opt) - keep_ns;
    unsigned day;

    if (keep_ns <= 0 || end <= 0 || !atomic_load(&s->is_prepared))
        return;
    day = day_of(end);
    if (!drop_before(s, "pprofd_profiles", day, 1, &err) ||
        !drop_before(s, "pprofd_ids", day, 1, &err) ||
        !drop_before(s, "pprofd_records", day, WEEK, &err))
        ch_background_error(s, &err);
}

static void *keep_loop(void *arg)
{
    struct ch_store *s = arg;
    int64_t pause_ns = FIRST_NS, keep_ns;

    pthread_mutex_lock(&s->keep_lock);
    keep_ns = s->keep_ns;
    for (;;) {
        struct timespec until = clock_timespec(clock_monotonic_ns() + pause_ns);

        while (!s->keep_stop && keep_ns == s->keep_ns)
            if (pthread_cond_timedwait(&s->keep_wake, &s->keep_lock, &until))
                break;
        if (s->keep_stop)
            break;
        keep_ns = s->keep_ns;
        pthread_mutex_unlock(&s->keep_lock);
        keep_once(s, keep_ns);
        pthread_mutex_lock(&s->keep_lock);
        pause_ns = EVERY_NS;
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

/* --- usage ---------------------------------------------------------------- */

static bool table_bytes(struct ch_store *s, const char *table, uint64_t *out,
                        struct error *err)
{
    struct buf sql = BUF_INIT(4096), reply = BUF_INIT(64);
    struct ch_request r = {.out = &reply};
    struct wire_reader at;
    bool ok;

    buf_addf(&sql,
             "SELECT toUInt64(sum(bytes_on_disk)) FROM system.parts WHERE "
             "active AND database = '%" STR_FMT "' AND table = '%s%s' FORMAT "
             "RowBinary",
             STR_ARG(ch_database(s->client)), table,
             s->cluster ? "_local" : "");
    r.sql = buf_str(&sql);
    ok = ch_run(s->client, &r, err) == STORE_OK;
    at = unpack_begin(buf_str(&reply));
    if (ok && !unrow_u64(&at, out))
        *out = 0;
    buf_release(&sql);
    buf_release(&reply);
    return ok;
}

struct share {
    struct str service, type;
    uint64_t profiles, posted, weight;
};

static bool read_share(struct wire_reader *r, struct share *out)
{
    return unrow_text(r, &out->service) && unrow_text(r, &out->type) &&
           unrow_u64(r, &out->profiles) && unrow_u64(r, &out->posted) &&
           unrow_u64(r, &out->weight);
}

/* What a table takes is split by a weight: ClickHouse does not say what single
 * rows take. */
static bool split_table(struct ch_store *s, const char *table,
                        const char *select, store_each_usage *each, void *arg,
                        bool *more, struct error *err)
{
    struct buf reply = BUF_INIT(STORE_BUF_BYTES);
    struct ch_request r = {.sql = str_from(select), .out = &reply};
    struct wire_reader at;
    struct share u;
    uint64_t bytes = 0, weight = 0;
    bool ok = table_bytes(s, table, &bytes, err) &&
              ch_run(s->client, &r, err) == STORE_OK;

    at = unpack_begin(buf_str(&reply));
    while (ok && wire_more(&at) && read_share(&at, &u))
        weight += u.weight;
    at = unpack_begin(buf_str(&reply));
    while (ok && *more && wire_more(&at) && read_share(&at, &u)) {
        struct store_usage out = {
            .service = u.service,
            .type = u.type,
            .profiles = u.type.n ? u.profiles : 0,
            .posted_bytes = u.posted,
            .stacks = u.type.n ? 0 : u.profiles,
            .names = u.type.n ? 0 : u.posted,
            .stored_bytes = (uint64_t)((double)bytes * (double)u.weight /
                                       (double)(weight ? weight : 1)),
        };

        if (!u.type.n)
            out.posted_bytes = 0;
        *more = each(arg, &out);
    }
    buf_release(&reply);
    return ok;
}

enum store_status ch_usage(struct store *store, store_each_usage *each,
                           void *arg, struct error *err)
{
    struct ch_store *s = ch_of(store);
    enum store_status status = ch_prepare(s, err);
    bool more = true;

    if (status != STORE_OK)
        return status;
    if (split_table(s, "pprofd_profiles",
                    "SELECT service, type, uniqExact(id), sum(posted), "
                    "toUInt64(sum(200 + samples * (16 + 8 * length(totals)) + "
                    "length(blob))) FROM pprofd_profiles GROUP BY service, "
                    "type ORDER BY service, type FORMAT RowBinary",
                    each, arg, &more, err) &&
        split_table(s, "pprofd_records",
                    "SELECT service, '', countIf(kind = 8), countIf(kind = "
                    "0), toUInt64(sum(20 + 8 * length(refs) + "
                    "length(record))) FROM pprofd_records GROUP BY service "
                    "ORDER BY service FORMAT RowBinary",
                    each, arg, &more, err))
        return STORE_OK;
    return STORE_FAILED;
}
