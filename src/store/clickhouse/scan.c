/*
 * Selections and counts.
 *
 * Conditions for equality are ClickHouse's work.  If there are expressions,
 * the series of the range are asked for first and matched here, and then
 * named in the query: there are far fewer series than profiles.
 *
 * Profiles whose day has been summed up are left out, and the finest sums
 * that there are take their place.
 */
#include "store/clickhouse/scan.h"

#include <inttypes.h>
#include <stdlib.h>

#include "store/clickhouse/make_sums.h"
#include "store/clickhouse/sql.h"

bool scan_damaged(struct error *err)
{
    return error_set(err, "pprofd_profiles: stored data are damaged, or "
                          "memory ran out");
}

bool selection_ask(struct selection *k, struct buf *sql, struct buf *reply,
                   struct error *err)
{
    struct ch_request r = {
        .sql = buf_str(sql), .out = reply, .budget = k->c->budget};
    enum store_status status =
        buf_ok(sql) ? ch_run(k->s->client, &r, err) : store_no_memory(err);

    if (status == STORE_OK)
        return true;
    k->c->status = status;
    if (status == STORE_LIMITED)
        k->c->own.limit = r.code == 241 || !r.code ? "memory" : "time";
    return false;
}

void selection_where(const struct selection *k, struct buf *sql)
{
    buf_addf(sql, " WHERE %" STR_FMT "%" STR_FMT "%" STR_FMT,
             STR_ARG(buf_str(&k->range)), STR_ARG(buf_str(&k->matchers)),
             STR_ARG(buf_str(&k->source)));
}

void selection_once(const struct selection *k, const char *columns,
                    const char *more, struct buf *sql)
{
    buf_addf(sql, "(SELECT %s FROM %s", columns, k->table);
    selection_where(k, sql);
    buf_addf(sql, "%s LIMIT 1 BY id)", more);
}

void selection_step(const struct selection *k, struct buf *sql)
{
    int64_t step = k->c->step_ns;

    if (step <= 0)
        buf_add(sql, STR("toInt64(0)"));
    else
        buf_addf(sql,
                 "toInt64(created - (created %% %" PRIi64 " + %" PRIi64
                 ") %% %" PRIi64 ")",
                 step, step, step);
}

bool selection_loader(struct selection *k, struct loader *l, struct error *err)
{
    if (!loader_init(l, k->s, k->c->budget))
        return error_set(err, "out of memory");
    l->where = buf_str(&k->records);
    return true;
}

/* --- series --------------------------------------------------------------- */

static void ask_for_series(struct selection *k, const char *what,
                           struct buf *sql)
{
    buf_addf(sql,
             "SELECT any(service), any(type), any(label_keys), "
             "any(label_values), %s FROM %s",
             what, k->table);
    selection_where(k, sql);
    buf_add(sql, STR(" GROUP BY series FORMAT RowBinary"));
}

/* Texts of a series, labels packed. */
static bool read_series(struct selection *k, struct wire_reader *r,
                        struct scan_row *row)
{
    struct str keys, values;
    size_t n, m;

    if (!unrow_text(r, &row->service) || !unrow_text(r, &row->type) ||
        !unrow_texts(r, &keys, &n) || !unrow_texts(r, &values, &m) || n != m ||
        !ch_pack_labels(keys, values, n, &k->c->label_text))
        return false;
    row->labels = buf_str(&k->c->label_text);
    return true;
}

static bool matches(struct selection *k, const struct scan_row *row)
{
    struct scan *c = k->c;
    size_t n;

    return series_labels(row->labels, &c->labels, &c->labels_cap, &n) &&
           query_matches(c->q, row->service, row->type, c->labels, n);
}

/* Adds those of the table to a list. */
static bool list_series(struct selection *k, struct buf *list,
                        struct error *err)
{
    struct buf sql = BUF_INIT((size_t)1 << 20);
    struct buf reply = BUF_INIT(STORE_BUF_BYTES);
    struct wire_reader r;
    bool ok;

    ask_for_series(k, "series", &sql);
    ok = selection_ask(k, &sql, &reply, err);
    r = unpack_begin(buf_str(&reply));
    while (ok && wire_more(&r)) {
        struct scan_row row = {0};
        uint64_t series;

        ok = read_series(k, &r, &row) && unrow_u64(&r, &series);
        if (!ok)
            scan_damaged(err);
        else if (matches(k, &row)) {
            buf_addf(list, "%s%" PRIu64, list->len ? "," : "", series);
        }
    }
    buf_release(&sql);
    buf_release(&reply);
    return ok;
}

static void use_profiles(struct selection *k)
{
    k->table = "pprofd_profiles";
    k->of_sums = false;
    buf_clear(&k->source);
}

static bool name_series(struct selection *k, struct error *err)
{
    struct buf list = BUF_INIT((size_t)12 << 20);
    bool ok = list_series(k, &list, err);

    if (ok && k->builds.len) {
        k->table = "pprofd_sums";
        ok = list_series(k, &list, err);
        use_profiles(k);
    }
    k->is_empty = list.len == 0;
    buf_addf(&k->matchers, " AND series IN (%" STR_FMT ")",
             STR_ARG(buf_str(&list)));
    if (!buf_ok(&list))
        ok = error_set(err, "the selection has too many series");
    buf_release(&list);
    return ok;
}

static bool count_series(struct selection *k, struct error *err)
{
    struct buf sql = BUF_INIT((size_t)16 << 20);
    struct buf reply = BUF_INIT(STORE_BUF_BYTES);
    struct wire_reader r;
    bool ok;

    ask_for_series(k, "uniqExact(id), min(created), max(created)", &sql);
    ok = selection_ask(k, &sql, &reply, err);
    r = unpack_begin(buf_str(&reply));
    while (ok && wire_more(&r)) {
        struct scan_count n;
        struct scan_row row = {0};

        ok = read_series(k, &r, &row) && unrow_u64(&r, &n.profiles) &&
             unrow_i64(&r, &n.first_ns) && unrow_i64(&r, &n.last_ns);
        ok = ok ? scan_check(k->c, err) && k->c->count(k->c->arg, &row, &n, err)
                : scan_damaged(err);
    }
    buf_release(&sql);
    buf_release(&reply);
    return ok;
}

/* --- all together --------------------------------------------------------- */

/* Records of the weeks in question, and of the service if it is named. */
static void limit_records(struct selection *k)
{
    const struct store_query *q = k->c->q;

    buf_addf(&k->records,
             "week >= toDate(toUInt16(%u)) AND week <= toDate(toUInt16(%u)) "
             "AND ",
             ch_week(ch_look_back(k->s, q->from_ns)), ch_week(q->to_ns));
    for (size_t i = 0; i < q->n_matchers; i++)
        if (q->matchers[i].field == STORE_SERVICE &&
            q->matchers[i].op == STORE_EQUAL) {
            buf_add(&k->records, STR("service = "));
            sql_text(&k->records, q->matchers[i].value);
            buf_add(&k->records, STR(" AND "));
        }
}

static bool scan_table(struct selection *k, struct error *err)
{
    struct scan *c = k->c;

    if (!buf_ok(&k->matchers) || !buf_ok(&k->records) || !buf_ok(&k->source))
        return error_set(err, "the selection has too many series");
    if (c->count)
        return count_series(k, err);
    if (!c->with_samples)
        return scan_descriptions(k, err);
    return c->use_sums ? scan_sums(k, err) : scan_profiles(k, "", err);
}

/* --- sums of what has expired --------------------------------------------- */

static void add_days(const struct selection *k, struct buf *sql)
{
    buf_add(sql, STR("day >= "));
    sql_day(sql, k->c->q->from_ns);
    buf_add(sql, STR(" AND day <= "));
    sql_day(sql, k->c->q->to_ns);
}

/* Builds that are made later do not count in this scan, so that all of its
 * queries see the same. */
static bool find_builds(struct selection *k, struct error *err)
{
    struct buf sql = BUF_INIT((size_t)1 << 20);
    struct buf reply = BUF_INIT(STORE_BUF_BYTES);
    struct wire_reader r;
    uint64_t build = 0;
    bool ok;

    buf_add(&sql, STR("SELECT DISTINCT build FROM pprofd_builds WHERE "));
    add_days(k, &sql);
    buf_addf(&sql, " AND state >= %d FORMAT RowBinary", SUM_MADE);
    ok = selection_ask(k, &sql, &reply, err);
    r = unpack_begin(buf_str(&reply));
    while (ok && wire_more(&r)) {
        ok = unrow_u64(&r, &build) || scan_damaged(err);
        buf_addf(&k->builds, "%s%" PRIu64, k->builds.len ? "," : "", build);
    }
    buf_release(&sql);
    buf_release(&reply);
    return ok && (buf_ok(&k->builds) ||
                  error_set(err, "the range has too many days"));
}

static void leave_summed(struct selection *k)
{
    buf_add(&k->source, STR(" AND (day, service, type) GLOBAL NOT IN (SELECT "
                            "day, service, type FROM pprofd_builds WHERE "));
    add_days(k, &k->source);
    buf_addf(&k->source, " AND build IN (%" STR_FMT "))",
             STR_ARG(buf_str(&k->builds)));
}

/* Sums of a level, where there are none of a finer one that would do.
 * `finer` has a bit for each of these. */
static void use_sums(struct selection *k, unsigned level, unsigned finer)
{
    k->table = "pprofd_sums";
    k->of_sums = true;
    buf_clear(&k->source);
    buf_addf(&k->source,
             " AND level = %u AND (day, service, type, build) GLOBAL IN "
             "(SELECT day, service, type, max(build) FROM pprofd_builds WHERE ",
             level);
    add_days(k, &k->source);
    buf_addf(&k->source,
             " AND build IN (%" STR_FMT ") GROUP BY day, service, type HAVING "
             "bitAnd(groupBitAnd(levels), %u) = %u)",
             STR_ARG(buf_str(&k->builds)), finer | 1u << level, 1u << level);
}

static bool scan_all(struct selection *k, struct error *err)
{
    int64_t step_ns = k->c->step_ns;
    unsigned finer = 0;
    bool ok;

    if (!k->builds.len)
        return scan_table(k, err);
    leave_summed(k);
    ok = scan_table(k, err);
    for (unsigned level = STORE_MINUTE; ok && level < STORE_LEVELS; level++) {
        if (step_ns && step_ns % level_ns[level])
            continue;
        use_sums(k, level, finer);
        ok = scan_table(k, err);
        finer |= 1u << level;
    }
    return ok;
}

static bool run(struct selection *k, struct error *err)
{
    struct scan *c = k->c;

    sql_range(&k->range, c->q->from_ns, c->q->to_ns);
    sql_matchers(&k->matchers, c->q);
    limit_records(k);
    use_profiles(k);
    if (c->use_sums && !find_builds(k, err))
        return false;
    if (sql_needs_series(c->q) && !name_series(k, err))
        return false;
    return k->is_empty || scan_all(k, err);
}

enum store_status ch_scan(struct scan *c, struct error *err)
{
    struct selection k = {.c = c, .s = ch_of(c->s)};
    bool ok;

    k.range = k.records = BUF_INIT((size_t)1 << 20);
    k.matchers = BUF_INIT((size_t)12 << 20);
    k.source = k.builds = BUF_INIT((size_t)1 << 20);
    scan_begin(c);
    c->status = ch_prepare(k.s, err);
    ok = c->status == STORE_OK && run(&k, err);
    buf_release(&k.range);
    buf_release(&k.matchers);
    buf_release(&k.records);
    buf_release(&k.source);
    buf_release(&k.builds);
    return scan_end(c, ok);
}
