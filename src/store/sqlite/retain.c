/*
 * What has expired goes.  A day file with nothing else is unlinked; from
 * others, blocks are deleted a few at a time and the pages given back to the
 * file system.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "store/sqlite/engine.h"

bool sqlite_store_set_retention(struct store *store,
                                const struct store_retention *rules, size_t n,
                                uint64_t max_disk_bytes, struct error *err)
{
    struct sqlite_store *s = engine_of(store);
    struct retention copy;

    if (!retention_copy(rules, n, &copy))
        return error_set(err, "out of memory");
    pthread_mutex_lock(&s->work_lock);
    retention_release(&s->retention);
    s->retention = copy;
    s->max_disk_bytes = max_disk_bytes;
    s->last_retain_ns = 0;
    pthread_mutex_unlock(&s->work_lock);
    return true;
}

/*
 * What a rule says of a day.
 */

/* Returns true if everything of this day has expired. */
static bool is_expired(const struct sqlite_store *s,
                       const struct store_retention *rule, const struct day *d)
{
    int64_t age = rule ? rule->max_age_ns[d->level] : 0;

    return age && (d->number + 1) * DAY + age <= engine_now(s);
}

/* Profiles are kept until the sums that outlive them are made. */
static bool may_go(const struct sqlite_store *s,
                   const struct store_retention *rule, const struct day *d)
{
    if (d->level != STORE_RAW || d->summed)
        return true;
    for (int level = STORE_MINUTE; level < STORE_LEVELS; level++)
        if (s->opt.levels & 1u << level &&
            (!rule->max_age_ns[level] ||
             rule->max_age_ns[level] > rule->max_age_ns[STORE_RAW]))
            return false;
    return true;
}

/*
 * Deleting from a file that has other data too.
 */

static bool run_with(sqlite3 *db, const char *sql, int64_t a, int64_t b,
                     struct error *err)
{
    sqlite3_stmt *st = db_prepare(db, sql, err);
    bool ok = st != NULL;

    if (ok) {
        sqlite3_bind_int64(st, 1, a);
        if (sqlite3_bind_parameter_count(st) > 1)
            sqlite3_bind_int64(st, 2, b);
        ok = db_run(db, st, "write", err);
    }
    sqlite3_finalize(st);
    return ok;
}

/* What can be found of profiles that are gone, and of series and segments
 * without a block. */
static bool delete_traces(sqlite3 *db, int64_t series, int level,
                          struct error *err)
{
    return (level != STORE_RAW ||
            (run_with(db, "DELETE FROM id WHERE series=?", series, 0, err) &&
             run_with(db, "DELETE FROM blob WHERE series=?", series, 0,
                      err))) &&
           db_exec(db,
                   "DELETE FROM segment WHERE id NOT IN (SELECT segment "
                   "FROM block);"
                   "DELETE FROM series WHERE id NOT IN (SELECT series FROM "
                   "block);"
                   "DELETE FROM service WHERE id NOT IN (SELECT service "
                   "FROM series)",
                   err);
}

/* Some blocks of a series; when none is left, all traces of them. */
static bool delete_some(sqlite3 *db, int64_t series, int level,
                        struct error *err)
{
    struct error ignored;
    bool ok = db_exec(db, "BEGIN IMMEDIATE", err);

    if (!ok)
        return false;
    ok = run_with(db,
                  "DELETE FROM block WHERE id IN (SELECT id FROM block WHERE "
                  "series=? AND level=? LIMIT 64)",
                  series, level, err);
    if (ok && sqlite3_changes(db) < 64)
        ok = delete_traces(db, series, level, err);
    ok = ok && db_exec(db, "COMMIT", err);
    if (!ok)
        db_exec(db, "ROLLBACK", &ignored);
    return ok;
}

struct expiry {
    struct sqlite_store *s;
    struct day *day;
    size_t kept;      /* series that stay */
    size_t n_series;  /* that go */
    int64_t series;   /* one that goes, or 0 */
    uint64_t expired; /* profiles of those that go */
};

static bool examine(struct expiry *k, sqlite3 *db, struct error *err)
{
    sqlite3_stmt *st = db_prepare(
        db,
        "SELECT series.id, service.name, series.type, sum(n) FROM series "
        "JOIN service ON service.id=series.service JOIN block ON "
        "block.series=series.id AND block.level=? GROUP BY series.id",
        err);
    bool more, ok = st != NULL;

    if (ok)
        sqlite3_bind_int64(st, 1, k->day->level);
    while (ok && (ok = db_step(db, st, &more, "read", err)) && more) {
        const struct store_retention *rule = retention_rule(
            &k->s->retention, db_column_str(st, 1), db_column_str(st, 2));

        if (!is_expired(k->s, rule, k->day) || !may_go(k->s, rule, k->day)) {
            k->kept++;
            continue;
        }
        k->series = sqlite3_column_int64(st, 0);
        k->n_series++;
        k->expired += (uint64_t)sqlite3_column_int64(st, 3);
    }
    sqlite3_finalize(st);
    return ok;
}

static void count_expired(struct sqlite_store *s, uint64_t n)
{
    pthread_mutex_lock(&s->stats_lock);
    s->stats.expired_profiles += n;
    pthread_mutex_unlock(&s->stats_lock);
}

/* Deletes some of one series, and counts its profiles when it was the last of
 * them. */
static bool expire_some(struct expiry *k, struct day_conn *c, struct error *err)
{
    struct expiry after = {.s = k->s, .day = k->day};

    if (!delete_some(c->db, k->series, k->day->level, err))
        return false;
    day_shrink(c);
    if (!examine(&after, c->db, err))
        return false;
    if (k->day->level == STORE_RAW)
        count_expired(k->s, k->expired - after.expired);
    if (!after.kept && !after.n_series)
        day_drop(k->s, k->day);
    return true;
}

static bool expire_day(struct sqlite_store *s, struct day *d, bool *did,
                       struct error *err)
{
    struct expiry k = {.s = s, .day = d};
    struct day_conn *c = day_connect(s, d, err);
    bool ok = c && examine(&k, c->db, err), all;

    all = ok && k.series && !k.kept && day_is_last(s, d);
    if (ok && k.series && !all)
        ok = expire_some(&k, c, err);
    *did = ok && k.series;
    if (c)
        day_disconnect(s, d, c);
    if (all) {
        day_unlink(s, d);
        if (d->level == STORE_RAW)
            count_expired(s, k.expired);
    }
    return ok;
}

/*
 * By size.
 */

/* The oldest file, but never that of today. */
static bool over_disk(struct sqlite_store *s, struct day **files, size_t n,
                      bool *did)
{
    int32_t today = (int32_t)(engine_now(s) / DAY);

    if (!s->max_disk_bytes || engine_disk_bytes(s) <= s->max_disk_bytes)
        return true;
    for (size_t i = 0; i < n; i++)
        if (files[i]->number < today) {
            day_unlink(s, files[i]);
            *did = true;
            return true;
        }
    return true;
}

struct share {
    struct sqlite_store *s;
    const struct store_retention *rule;
    struct str service, type;
};

/* The bytes of a service and type in one file, and one of its series. */
static bool measure(struct sqlite_store *s, struct day *d, struct str service,
                    struct str type, uint64_t *bytes, int64_t *series,
                    struct error *err)
{
    struct day_conn *c = day_connect(s, d, err);
    sqlite3_stmt *st =
        c ? db_prepare(c->db,
                       "SELECT total(bytes), max(series.id) FROM series JOIN "
                       "service ON service.id=series.service JOIN block ON "
                       "block.series=series.id AND block.level=? WHERE "
                       "service.name=? AND series.type=?",
                       err)
          : NULL;
    bool more, ok = st != NULL;

    if (ok) {
        sqlite3_bind_int64(st, 1, d->level);
        db_bind_str(st, 2, service);
        db_bind_str(st, 3, type);
        ok = db_step(c->db, st, &more, "read", err);
        *bytes += ok ? (uint64_t)sqlite3_column_int64(st, 0) : 0;
        *series = ok ? sqlite3_column_int64(st, 1) : 0;
    }
    sqlite3_finalize(st);
    if (c)
        day_disconnect(s, d, c);
    return ok;
}

static bool delete_from(struct sqlite_store *s, struct day *d, int64_t series,
                        struct error *err)
{
    struct day_conn *c = day_connect(s, d, err);
    bool ok = c && delete_some(c->db, series, d->level, err);

    if (ok)
        day_shrink(c);
    if (c)
        day_disconnect(s, d, c);
    return ok;
}

/* Newest first: from the day on where the sum passes the limit, everything
 * goes, the oldest first. */
static bool over_share(struct share *k, struct day **files, size_t n, bool *did,
                       struct error *err)
{
    struct day *victim = NULL;
    uint64_t bytes = 0;
    int64_t series, last = 0;

    for (size_t i = n; i-- > 0;) {
        if (!measure(k->s, files[i], k->service, k->type, &bytes, &series, err))
            return false;
        if (bytes > k->rule->max_bytes && series) {
            victim = files[i];
            last = series;
        }
    }
    if (!victim)
        return true;
    *did = true;
    return delete_from(k->s, victim, last, err);
}

static bool over_shares(struct sqlite_store *s, struct day **files, size_t n,
                        bool *did, struct error *err)
{
    bool any = false, ok = true;

    for (size_t i = 0; i < s->retention.n; i++)
        any |= s->retention.rules[i].max_bytes != 0;
    for (size_t i = 0; any && ok && !*did && i < n; i++) {
        struct day_conn *c = day_connect(s, files[i], err);
        sqlite3_stmt *st =
            c ? db_prepare(c->db,
                           "SELECT DISTINCT service.name, series.type FROM "
                           "series JOIN service ON service.id=series.service",
                           err)
              : NULL;
        bool more;

        ok = st != NULL;
        while (ok && !*did && (ok = db_step(c->db, st, &more, "read", err)) &&
               more) {
            struct share k = {.s = s,
                              .service = db_column_str(st, 0),
                              .type = db_column_str(st, 1)};

            k.rule = retention_rule(&s->retention, k.service, k.type);
            if (k.rule && k.rule->max_bytes)
                ok = over_share(&k, files, n, did, err);
        }
        sqlite3_finalize(st);
        if (c)
            day_disconnect(s, files[i], c);
    }
    return ok;
}

/* How often to look when there was nothing to do. */
#define LOOK_NS ((int64_t)30 * 1000000000)

bool retain_step(struct sqlite_store *s, bool *did, struct error *err)
{
    int64_t now = clock_monotonic_ns();
    struct day **files;
    size_t n;
    bool ok = true;

    if ((!s->retention.n && !s->max_disk_bytes) ||
        (!s->opt.no_background && s->last_retain_ns &&
         now - s->last_retain_ns < LOOK_NS))
        return true;
    if (!days_all(s, &files, &n))
        return error_set(err, "out of memory");
    for (size_t i = 0; ok && !*did && i < n; i++)
        ok = expire_day(s, files[i], did, err);
    if (ok && !*did)
        ok = over_disk(s, files, n, did);
    if (ok && !*did)
        ok = over_shares(s, files, n, did, err);
    for (size_t i = 0; i < n; i++)
        day_put(s, files[i]);
    free(files);
    s->last_retain_ns = *did ? 0 : now;
    return ok;
}
