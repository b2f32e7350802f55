/*
 * Which files answer a question about a service: its profiles, and sums of
 * them where they fit the step of the answer.
 */
#include <stdlib.h>

#include "store/grow.h"
#include "store/pack.h"
#include "store/sqlite/scan_parts.h"

bool scan_add_part(struct service_scan *k, struct day *day, int64_t from_ns,
                   int64_t to_ns)
{
    if (from_ns > to_ns)
        return true;
    if (!grow(&k->days, &k->days_cap, k->n_days + 1))
        return false;
    k->days[k->n_days++] = (struct day_scan){.c = k->c,
                                             .day = day,
                                             .service = k->name,
                                             .from_ns = from_ns,
                                             .to_ns = to_ns,
                                             .text = BUF_INIT(STORE_BUF_BYTES)};
    day_use(engine_of(k->c->s), day);
    return true;
}

bool level_fits(const struct scan *c, int level)
{
    return c->use_sums &&
           (c->step_ns == 0 || c->step_ns % level_ns[level] == 0);
}

/* Returns true if the sums of the service are complete. */
static bool is_summed(struct service_scan *k, struct day *raw, int level,
                      bool *out, struct error *err)
{
    struct day_conn *c = day_connect(engine_of(k->c->s), raw, err);
    sqlite3_stmt *st = c ? day_statement(c, DAY_SUMMED, err) : NULL;
    bool ok = st != NULL;

    if (ok) {
        db_bind_str(st, 1, k->name);
        sqlite3_bind_int64(st, 2, 1 << level);
        ok = db_step(c->db, st, out, "read", err);
        sqlite3_reset(st);
    }
    if (c)
        day_disconnect(engine_of(k->c->s), raw, c);
    return ok;
}

static int64_t round_up(int64_t t, int64_t step)
{
    int64_t down = t - t % step;

    return down == t ? t : down + step;
}

/*
 * A day whose profiles are there: whole steps inside the range from the
 * coarsest sums that fit, the ends from the profiles.
 */
static bool plan_day(struct service_scan *k, struct day *raw, struct error *err)
{
    const struct store_query *q = k->c->q;
    int64_t start = (int64_t)raw->number * level_ns[STORE_DAY];
    int64_t end = start + level_ns[STORE_DAY];
    int64_t from = q->from_ns > start ? q->from_ns : start;
    int64_t to = q->to_ns < end - 1 ? q->to_ns + 1 : end; /* exclusive */

    for (int level = STORE_DAY; level >= STORE_MINUTE; level--) {
        int64_t step = level_ns[level], a, b;
        struct day *sums;
        bool summed = false, ok;

        if (!level_fits(k->c, level) || from >= to ||
            /* times outside of the day are in no sum of its steps */
            raw->t0_ns < start || raw->t1_ns >= end)
            continue;
        a = round_up(from, step);
        b = to - to % step;
        if (a >= b)
            continue;
        if (!is_summed(k, raw, level, &summed, err))
            return false;
        sums = summed ? day_get(engine_of(k->c->s), raw->number,
                                (enum store_level)level, false, err)
                      : NULL;
        if (!sums)
            continue;
        ok = scan_add_part(k, sums, a, b - 1) &&
             scan_add_part(k, raw, from, a - 1) &&
             scan_add_part(k, raw, b, to - 1);
        day_put(engine_of(k->c->s), sums);
        return ok || error_set(err, "out of memory");
    }
    return scan_add_part(k, raw, q->from_ns, q->to_ns) ||
           error_set(err, "out of memory");
}

/* Days whose profiles have expired: the finest sums that are left. */
static bool plan_sums(struct service_scan *k, int level, struct error *err)
{
    const struct store_query *q = k->c->q;
    struct day **files;
    size_t n;
    bool ok = true;

    if (!level_fits(k->c, level))
        return true;
    if (!days_between(engine_of(k->c->s), (enum store_level)level, q->from_ns,
                      q->to_ns, &files, &n))
        return error_set(err, "out of memory");
    for (size_t i = 0; i < n; i++) {
        bool finer = false;

        for (int l = STORE_RAW; l < level && !finer; l++) {
            struct day *d = day_get(engine_of(k->c->s), files[i]->number,
                                    (enum store_level)l, false, err);

            finer = d && (l == STORE_RAW || level_fits(k->c, l));
            if (d)
                day_put(engine_of(k->c->s), d);
        }
        ok = ok && (finer || scan_add_part(k, files[i], q->from_ns, q->to_ns) ||
                    error_set(err, "out of memory"));
        day_put(engine_of(k->c->s), files[i]);
    }
    free(files);
    return ok;
}

bool scan_plan(struct service_scan *k, struct error *err)
{
    const struct store_query *q = k->c->q;
    struct day **files;
    size_t n;
    bool ok = true;

    if (!days_between(engine_of(k->c->s), STORE_RAW, q->from_ns, q->to_ns,
                      &files, &n))
        return error_set(err, "out of memory");
    for (size_t i = 0; i < n; i++) {
        ok = ok && plan_day(k, files[i], err);
        day_put(engine_of(k->c->s), files[i]);
    }
    free(files);
    for (int level = STORE_MINUTE; ok && level < STORE_LEVELS; level++)
        ok = plan_sums(k, level, err);
    return ok;
}
