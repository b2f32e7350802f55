/*
 * Days whose profiles have expired.
 *
 * What expires is a service and type on a day.  If sums of it are wanted, it
 * goes through these states, and any collector may take it to the next one:
 *
 *     sums are made, and readers use them instead of the profiles;
 *     no profile has come since: they are sealed;
 *     they have been sealed for a while: the profiles are dropped.
 *
 * Late profiles have the sums made anew until these are sealed; then they
 * are dropped with the others.  Profiles stay until the sums of the next day
 * are sealed, too: its changes of cumulative values begin with their last.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "store/clickhouse/keep.h"
#include "store/clickhouse/make_sums.h"
#include "store/clickhouse/rowbin.h"
#include "store/clickhouse/sql.h"
#include "store/grow.h"

/* A service and type on a day. */
struct piece {
    uint64_t day;
    struct str service, type;
    uint64_t profiles, rows, samples, types, cumulative;
    bool is_expired;
    unsigned wanted; /* sums */

    uint64_t build, summed, state; /* the build that counts; state 0: none */
    int64_t age;                   /* of the state, in s */
    bool is_tried;                 /* its sums were made just now, or not */
};

struct build_row {
    uint64_t day;
    struct str service, type;
    uint64_t build, profiles, state;
    int64_t age;
};

struct expiry {
    struct ch_store *s;
    const struct retention *r;
    struct buf profiles, builds; /* replies that the pieces point into */
    struct piece *v;
    size_t n, cap;
    bool once; /* some profile is there twice */
};

/* --- what is there -------------------------------------------------------- */

static bool ask(struct ch_store *s, struct buf *reply, struct error *err,
                const char *fmt, ...) __attribute__((format(printf, 4, 5)));

static bool ask(struct ch_store *s, struct buf *reply, struct error *err,
                const char *fmt, ...)
{
    struct buf sql = BUF_INIT(4096);
    struct ch_request r = {.out = reply};
    va_list ap;
    bool ok;

    va_start(ap, fmt);
    buf_vaddf(&sql, fmt, ap);
    va_end(ap);
    r.sql = buf_str(&sql);
    ok = ch_run(s->client, &r, err) == STORE_OK;
    buf_release(&sql);
    return ok;
}

static bool read_piece(struct wire_reader *r, struct piece *p)
{
    *p = (struct piece){0};
    return unrow_u64(r, &p->day) && unrow_text(r, &p->service) &&
           unrow_text(r, &p->type) && unrow_u64(r, &p->profiles) &&
           unrow_u64(r, &p->rows) && unrow_u64(r, &p->samples) &&
           unrow_u64(r, &p->types) && unrow_u64(r, &p->cumulative);
}

static bool read_build(struct wire_reader *r, struct build_row *b)
{
    return unrow_u64(r, &b->day) && unrow_text(r, &b->service) &&
           unrow_text(r, &b->type) && unrow_u64(r, &b->build) &&
           unrow_u64(r, &b->profiles) && unrow_u64(r, &b->state) &&
           unrow_i64(r, &b->age);
}

static bool is_damaged(struct error *err)
{
    return error_set(err, "ClickHouse's answer about expired days cannot be "
                          "read");
}

static int compare(const void *x, const void *y)
{
    const struct piece *a = x, *b = y;
    int c;

    if (a->day != b->day)
        return a->day < b->day ? -1 : 1;
    c = str_cmp(a->service, b->service);
    return c ? c : str_cmp(a->type, b->type);
}

static struct piece *find(const struct expiry *k, uint64_t day,
                          struct str service, struct str type)
{
    struct piece key = {.day = day, .service = service, .type = type};

    return k->n ? bsearch(&key, k->v, k->n, sizeof(*k->v), compare) : NULL;
}

static void judge(const struct expiry *k, struct piece *p)
{
    const struct store_retention *rule =
        retention_rule(k->r, p->service, p->type);

    p->is_expired = rule && keep_first_day(k->s, rule, STORE_RAW) > p->day;
    p->wanted = p->is_expired && p->profiles
                    ? keep_wanted(k->s, rule, (unsigned)p->day)
                    : 0;
}

/* Profiles until a day, inclusive. */
static bool load_pieces(struct expiry *k, unsigned until, struct error *err)
{
    struct wire_reader r;
    struct piece p;

    if (!ask(k->s, &k->profiles, err,
             "SELECT toUInt64(toUInt16(day)), service, type, uniqExactIf(id, "
             "flags = 0), countIf(flags = 0), sum(samples), "
             "max(length(totals)), toUInt64(max(cumulative != 0)) FROM "
             "pprofd_profiles WHERE day <= toDate(toUInt16(%u)) GROUP BY day, "
             "service, type ORDER BY day, service, type FORMAT RowBinary",
             until))
        return false;
    r = unpack_begin(buf_str(&k->profiles));
    while (wire_more(&r)) {
        if (!read_piece(&r, &p) || !grow(&k->v, &k->cap, k->n + 1))
            return is_damaged(err);
        judge(k, &p);
        k->once |= p.profiles != p.rows;
        k->v[k->n++] = p;
    }
    return true;
}

/* Of several builds of a piece the last one counts: they come in order. */
static bool load_builds(struct expiry *k, unsigned until, struct error *err)
{
    struct wire_reader r;
    struct build_row b;

    if (!ask(k->s, &k->builds, err,
             "SELECT toUInt64(toUInt16(day)), service, type, build, "
             "max(profiles), toUInt64(max(state)), toInt64(toUInt32(now())) - "
             "toInt64(max(at)) FROM pprofd_builds WHERE day <= "
             "toDate(toUInt16(%u)) GROUP BY day, service, type, build ORDER "
             "BY day, service, type, build FORMAT RowBinary",
             until))
        return false;
    r = unpack_begin(buf_str(&k->builds));
    while (wire_more(&r)) {
        struct piece *p;

        if (!read_build(&r, &b))
            return is_damaged(err);
        p = b.state == SUM_BEGUN ? NULL : find(k, b.day, b.service, b.type);
        if (!p)
            continue;
        p->build = b.build;
        p->summed = b.profiles;
        p->state = b.state;
        p->age = b.age;
    }
    return true;
}

/* --- what is to be done --------------------------------------------------- */

static bool is_settled(int64_t age)
{
    return age >= SUM_SETTLE_NS / SECOND;
}

static bool needs_build(const struct piece *p)
{
    return p->wanted &&
           (!p->state || (p->state == SUM_MADE && p->summed < p->profiles));
}

static bool needs_seal(const struct piece *p)
{
    return p->wanted && p->state == SUM_MADE && p->summed >= p->profiles &&
           is_settled(p->age);
}

static bool has_sums(const struct piece *p)
{
    return !p->wanted || (p->state == SUM_SEALED && is_settled(p->age));
}

static bool may_go(const struct expiry *k, const struct piece *p)
{
    const struct piece *next = find(k, p->day + 1, p->service, p->type);

    if (!p->is_expired || !has_sums(p))
        return false;
    return !p->wanted || !next || (next->is_expired && has_sums(next));
}

static void add_piece(struct buf *out, const struct piece *p, bool with_day,
                      bool with_build)
{
    buf_add(out,
            out->len && out->data[out->len - 1] == ')' ? STR(",(") : STR("("));
    if (with_day)
        buf_addf(out, "toDate(toUInt16(%u)), ", (unsigned)p->day);
    sql_text(out, p->service);
    buf_add(out, STR(", "));
    sql_text(out, p->type);
    if (with_build)
        buf_addf(out, ", toUInt64(%" PRIu64 ")", p->build);
    buf_add_char(out, ')');
}

/* --- sums ----------------------------------------------------------------- */

/* The last build of a day, and whether a collector has begun one lately. */
static void builds_of(const struct expiry *k, uint64_t day, uint64_t *last,
                      bool *is_begun)
{
    struct wire_reader r = unpack_begin(buf_str(&k->builds));
    struct build_row b;

    *last = 0;
    *is_begun = false;
    while (wire_more(&r) && read_build(&r, &b)) {
        if (b.day != day)
            continue;
        *last = b.build > *last ? b.build : *last;
        *is_begun |= b.state == SUM_BEGUN && b.age < SUM_BUILD_NS / SECOND;
    }
}

/* Pieces of a day, from the first to before the end, that want the same levels
 * as the first of them: as many as one build may have. */
static bool build_some(struct expiry *k, struct piece *first,
                       const struct piece *end, uint64_t last,
                       struct error *err)
{
    struct buf types = BUF_INIT((size_t)15 << 20);
    struct build_plan plan = {.day = (unsigned)first->day,
                              .levels = first->wanted,
                              .last = last,
                              .once = k->once};
    bool ok, made = false;

    buf_add(&types, STR(" AND (service, type) IN ("));
    for (struct piece *p = first; p < end; p++) {
        if (!needs_build(p) || p->is_tried || p->wanted != plan.levels ||
            (plan.samples && plan.samples + p->samples > SUM_SAMPLES))
            continue;
        add_piece(&types, p, false, false);
        plan.samples += p->samples;
        plan.has_wide |= p->types > 4;
        plan.has_cumulative |= p->cumulative != 0;
        p->is_tried = true;
    }
    buf_add_char(&types, ')');
    plan.types = buf_str(&types);
    ok = buf_ok(&types) ? ch_make_sums(k->s, &plan, &made, err)
                        : error_set(err, "out of memory");
    buf_release(&types);
    if (made) {
        pthread_mutex_lock(&k->s->stats_lock);
        k->s->stats.downsamplings++;
        pthread_mutex_unlock(&k->s->stats_lock);
    }
    return ok;
}

/* What fails does not keep others from their sums. */
static void build_day(struct expiry *k, struct piece *first,
                      const struct piece *end)
{
    struct error err = {.text = ""};
    uint64_t last;
    bool is_begun;

    builds_of(k, first->day, &last, &is_begun);
    for (struct piece *p = first; !is_begun && p < end; p++)
        if (needs_build(p) && !p->is_tried &&
            !build_some(k, p, end, last, &err))
            ch_background_error(k->s, &err);
}

/* What is left of builds of the day that were never made. */
static bool delete_remains(struct expiry *k, uint64_t day, struct error *err)
{
    struct wire_reader r = unpack_begin(buf_str(&k->builds));
    struct buf where = BUF_INIT((size_t)1 << 20);
    struct build_row b;
    uint64_t last;
    bool is_begun, ok = true;

    builds_of(k, day, &last, &is_begun);
    buf_addf(&where, "day = toDate(toUInt16(%u)) AND build NOT IN (0",
             (unsigned)day);
    while (wire_more(&r) && read_build(&r, &b))
        if (b.day == day && b.state != SUM_BEGUN)
            buf_addf(&where, ",%" PRIu64, b.build);
    buf_add_char(&where, ')');
    if (!is_begun)
        ok = keep_delete(k->s, "pprofd_sums", buf_str(&where), err);
    buf_release(&where);
    return ok;
}

static bool seal(struct expiry *k, struct error *err)
{
    struct buf list = BUF_INIT((size_t)15 << 20);
    uint64_t day = UINT64_MAX;
    bool ok = true;

    for (size_t i = 0; ok && i < k->n; i++) {
        const struct piece *p = &k->v[i];

        if (!needs_seal(p))
            continue;
        add_piece(&list, p, true, true);
        if (p->day != day)
            ok = delete_remains(k, p->day, err);
        day = p->day;
    }
    if (ok && list.len)
        ok = ch_exec(k->s->client, err,
                     "INSERT INTO pprofd_builds (day, service, type, build, "
                     "levels, profiles, state, at) SELECT day, service, type, "
                     "build, groupBitAnd(levels), max(profiles), toUInt8(%d), "
                     "toUInt32(now()) FROM pprofd_builds WHERE (day, service, "
                     "type, build) IN (%" STR_FMT ") GROUP BY day, service, "
                     "type, build",
                     SUM_SEALED, STR_ARG(buf_str(&list))) == STORE_OK;
    buf_release(&list);
    return ok;
}

/* --- the profiles --------------------------------------------------------- */

static bool drop_day(struct ch_store *s, uint64_t day, struct error *err)
{
    time_t t = (time_t)day * 86400;
    char name[32];
    struct tm tm;

    gmtime_r(&t, &tm);
    strftime(name, sizeof(name), "'%Y-%m-%d'", &tm);
    return keep_drop(s, "pprofd_ids", str_from(name), err) &&
           keep_drop(s, "pprofd_profiles", str_from(name), err);
}

/* A day that has expired for all services and types waits until it can be
 * dropped as a whole; from others, rows are deleted. */
static bool drop(struct expiry *k, struct error *err)
{
    struct buf where = BUF_INIT((size_t)15 << 20);
    size_t head, end;
    bool ok = true;

    buf_add(&where, STR("(day, service, type) IN ("));
    head = where.len;
    for (size_t i = 0; ok && i < k->n; i = end) {
        size_t gone = 0;
        bool has_more = false;

        for (end = i; end < k->n && k->v[end].day == k->v[i].day; end++) {
            gone += may_go(k, &k->v[end]);
            has_more |= !k->v[end].is_expired;
        }
        if (gone == end - i) {
            ok = drop_day(k->s, k->v[i].day, err);
            continue;
        }
        for (size_t j = i; has_more && j < end; j++)
            if (may_go(k, &k->v[j]))
                add_piece(&where, &k->v[j], true, false);
    }
    if (ok && where.len > head) {
        buf_add_char(&where, ')');
        ok =
            buf_ok(&where)
                ? keep_delete(k->s, "pprofd_ids", buf_str(&where), err) &&
                      keep_delete(k->s, "pprofd_profiles", buf_str(&where), err)
                : error_set(err, "out of memory");
    }
    buf_release(&where);
    return ok;
}

static bool run(struct expiry *k, unsigned until, struct error *err)
{
    bool ok = load_pieces(k, until, err) && load_builds(k, until, err) &&
              drop(k, err) && seal(k, err);
    size_t end;

    for (size_t i = 0; ok && i < k->n; i = end) {
        for (end = i; end < k->n && k->v[end].day == k->v[i].day; end++)
            ;
        build_day(k, &k->v[i], &k->v[end]);
    }
    return ok;
}

bool keep_expire(struct ch_store *s, const struct retention *r,
                 struct error *err)
{
    struct expiry k = {.s = s, .r = r};
    unsigned until = 0; /* the last day that something may have expired on */
    bool ok = true;

    for (size_t i = 0; i < r->n; i++) {
        unsigned day = keep_first_day(s, &r->rules[i], STORE_RAW);

        until = day > until ? day : until;
    }
    k.profiles = k.builds = BUF_INIT(STORE_BUF_BYTES);
    if (until) /* and the day behind it */
        ok = run(&k, until, err);
    buf_release(&k.profiles);
    buf_release(&k.builds);
    free(k.v);
    return ok;
}
