/*
 * Sums by stack, made by ClickHouse.
 *
 * First the descriptions are added up by step and header: they say which
 * sums there will be, how many values a stack has, and whether a profile is
 * there twice.  Then the samples are, in one query; a selection without
 * sample labels has shorter keys.  Rows handed over are sums (ROW_SUM), one
 * for each step and header.  scan_changes.c adds changes of cumulative values.
 *
 * Profiles with more than four sample types are rare; they are fetched whole.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/i64.h"
#include "store/clickhouse/scan_changes.h"
#include "store/clickhouse/sql.h"
#include "store/grow.h"
#include "store/sums.h"

/* One sum that will be handed over. */
struct plan {
    int64_t step, newest, time, duration, period;
    uint64_t header, cumulative, rows, ids, profiles, samples, n_labels;
    struct unrow_array totals;
};

struct summing {
    struct selection *k;
    bool once; /* some profile is there twice */
    struct buf plan_reply, sums_reply, image_reply;
    struct plan *plans;
    size_t n, cap;
    size_t columns;
    bool has_labels, has_wide, has_cumulative;

    struct step_changes changes;
    struct loader l;
    struct wire_reader at; /* in sums_reply */
    struct sums sums;
    struct row_meta meta;
    struct row_samples samples;
};

/* --- plan ----------------------------------------------------------------- */

static void write_plan(struct summing *u, struct buf *sql)
{
    buf_add(sql, STR("SELECT "));
    selection_step(u->k, sql);
    buf_add(sql, STR(" AS step, header, any(cumulative), max(created), "
                     "minIf(time, time != 0), sum(duration), max(period), "
                     "count(), "
                     "uniqExact(id), sum(n), sum(samples), max(n_labels), "
                     "sumForEach(totals) FROM "));
    buf_addf(sql,
             "(SELECT id, header, cumulative, created, time, duration, period, "
             "samples, totals, length(labels) AS n_labels, %s AS n FROM %s",
             u->k->of_sums ? "profiles" : "toUInt64(1)", u->k->table);
    selection_where(u->k, sql);
    buf_addf(sql, " AND flags = 0%s)", u->once ? " LIMIT 1 BY id" : "");
    buf_add(sql, STR(" GROUP BY step, header ORDER BY step, header FORMAT "
                     "RowBinary"));
}

static bool read_plan(struct wire_reader *r, struct plan *p)
{
    return unrow_i64(r, &p->step) && unrow_u64(r, &p->header) &&
           unrow_u64(r, &p->cumulative) && unrow_i64(r, &p->newest) &&
           unrow_i64(r, &p->time) && unrow_i64(r, &p->duration) &&
           unrow_i64(r, &p->period) && unrow_u64(r, &p->rows) &&
           unrow_u64(r, &p->ids) && unrow_u64(r, &p->profiles) &&
           unrow_u64(r, &p->samples) && unrow_u64(r, &p->n_labels) &&
           unrow_array(r, &p->totals);
}

static bool read_plans(struct summing *u)
{
    struct wire_reader r = unpack_begin(buf_str(&u->plan_reply));

    u->n = 0;
    while (wire_more(&r)) {
        struct plan p;

        if (!read_plan(&r, &p) || !grow(&u->plans, &u->cap, u->n + 1))
            return false;
        if (p.rows != p.ids)
            u->once = true;
        if (p.totals.n > 4) {
            u->has_wide = true;
            continue;
        }
        if (u->columns < p.totals.n)
            u->columns = p.totals.n;
        u->has_labels |= p.n_labels > 0;
        u->has_cumulative |= p.cumulative != 0;
        u->plans[u->n++] = p;
    }
    return true;
}

static bool make_plan(struct summing *u, struct error *err)
{
    struct buf sql = BUF_INIT((size_t)16 << 20);
    bool was_once = u->once, ok;

    buf_clear(&u->plan_reply);
    write_plan(u, &sql);
    ok = selection_ask(u->k, &sql, &u->plan_reply, err) &&
         (read_plans(u) || scan_damaged(err));
    buf_release(&sql);
    if (ok && u->once && !was_once)
        return make_plan(u, err);
    return ok;
}

/* --- sums ----------------------------------------------------------------- */

/* Returns true if all sums have the same header, which then need not be part of
 * the key. */
static bool has_one_header(const struct summing *u)
{
    for (size_t i = 1; i < u->n; i++)
        if (u->plans[i].header != u->plans[0].header)
            return false;
    return u->n > 0;
}

/* Sums have the changes of cumulative values with them. */
static bool has_changes(const struct summing *u)
{
    return u->k->of_sums && u->has_cumulative && u->k->c->with_changes;
}

/* ARRAY JOIN wants arrays of one length. */
static void write_sums(struct summing *u, struct buf *sql)
{
    char conditions[100] = " AND flags = 0 AND length(totals) <= 4";
    bool one = has_one_header(u);
    size_t n = strlen(conditions);

    if (one)
        snprintf(conditions + n, sizeof(conditions) - n,
                 " AND header = %" PRIu64, u->plans[0].header);
    buf_add(sql, STR("SELECT "));
    selection_step(u->k, sql);
    buf_add(sql, STR(" AS step, "));
    if (one)
        buf_addf(sql, "toUInt64(%" PRIu64 ") AS h", u->plans[0].header);
    else
        buf_add(sql, STR("header AS h"));
    buf_add(sql, STR(", s, "));
    buf_add(sql, u->has_labels ? STR("l") : STR("toUInt64(0)"));
    for (size_t i = 0; i < u->columns; i++)
        buf_addf(sql, ", sum(a%zu)", i);
    for (size_t i = 0; has_changes(u) && i < u->columns; i++)
        buf_addf(sql, ", sum(b%zu)", i);
    buf_add(sql, STR(" FROM "));
    if (u->once)
        selection_once(u->k,
                       u->k->of_sums
                           ? "id, created, header, stacks, labels, v0, v1, "
                             "v2, v3, c0, c1, c2, c3"
                           : "id, created, header, stacks, labels, v0, v1, "
                             "v2, v3",
                       conditions, sql);
    else
        buf_add(sql, str_from(u->k->table));
    buf_add(sql, STR(" ARRAY JOIN stacks AS s"));
    if (u->has_labels)
        buf_add(sql, STR(", arrayResize(labels, length(stacks)) AS l"));
    for (size_t i = 0; i < u->columns; i++)
        buf_addf(sql, ", arrayResize(v%zu, length(stacks)) AS a%zu", i, i);
    for (size_t i = 0; has_changes(u) && i < u->columns; i++)
        buf_addf(sql, ", arrayResize(c%zu, length(stacks)) AS b%zu", i, i);
    if (!u->once) {
        selection_where(u->k, sql);
        buf_add(sql, str_from(conditions));
    }
    buf_add(sql, one ? STR(" GROUP BY s") : STR(" GROUP BY header, s"));
    if (u->k->c->step_ns > 0)
        buf_add(sql, STR(", step"));
    if (u->has_labels)
        buf_add(sql, STR(", l"));
    buf_add(sql, STR(" ORDER BY step, h"));
    if (u->columns) /* so that the same answer looks the same */
        buf_addf(sql, ", sum(a%zu) DESC, s", u->columns - 1);
    buf_add(sql, STR(" FORMAT RowBinary"));
}

struct summed_stack {
    int64_t step;
    uint64_t header, stack, labels;
    int64_t values[4], changes[4];
};

static bool read_stack(const struct summing *u, struct wire_reader *r,
                       struct summed_stack *out)
{
    if (!unrow_i64(r, &out->step) || !unrow_u64(r, &out->header) ||
        !unrow_u64(r, &out->stack) || !unrow_u64(r, &out->labels))
        return false;
    for (size_t i = 0; i < u->columns; i++)
        if (!unrow_i64(r, &out->values[i]))
            return false;
    for (size_t i = 0; has_changes(u) && i < u->columns; i++)
        if (!unrow_i64(r, &out->changes[i]))
            return false;
    return true;
}

static bool want_sums(struct summing *u)
{
    struct wire_reader r = unpack_begin(buf_str(&u->sums_reply));
    struct summed_stack row;

    while (wire_more(&r))
        if (!read_stack(u, &r, &row) ||
            !loader_want(&u->l, KIND_STACK, row.stack) ||
            !loader_want(&u->l, DICT_LABELS, row.labels))
            return false;
    for (size_t i = 0; i < u->n; i++)
        if (!loader_want(&u->l, DICT_HEADER, u->plans[i].header))
            return false;
    return true;
}

/* A profile may have come for the second time since the plan was made. */
static bool is_once_now(struct summing *u, bool *ok, struct error *err)
{
    struct buf sql = BUF_INIT((size_t)16 << 20), reply = BUF_INIT(64);
    struct wire_reader r;
    uint64_t n = 0, ids = 0;

    buf_addf(&sql, "SELECT count(), uniqExact(id) FROM %s", u->k->table);
    selection_where(u->k, &sql);
    buf_add(&sql, STR(" AND flags = 0 FORMAT RowBinary"));
    *ok = selection_ask(u->k, &sql, &reply, err);
    r = unpack_begin(buf_str(&reply));
    if (*ok && (!unrow_u64(&r, &n) || !unrow_u64(&r, &ids)))
        *ok = scan_damaged(err);
    buf_release(&sql);
    buf_release(&reply);
    return n == ids;
}

static bool ask_sums(struct summing *u, struct error *err)
{
    struct buf sql = BUF_INIT((size_t)16 << 20);
    bool ok;

    buf_clear(&u->sums_reply);
    write_sums(u, &sql);
    ok = selection_ask(u->k, &sql, &u->sums_reply, err);
    buf_release(&sql);
    if (ok && !u->once && !is_once_now(u, &ok, err) && ok) {
        u->once = true;
        return make_plan(u, err) && ask_sums(u, err);
    }
    return ok;
}

/* Every image that mappings are to be taken from, the oldest first. */
static bool ask_images(struct summing *u, struct error *err)
{
    struct buf sql = BUF_INIT((size_t)16 << 20);
    struct wire_reader r;
    uint64_t image;
    bool ok;

    buf_addf(&sql, "SELECT image FROM %s", u->k->table);
    selection_where(u->k, &sql);
    buf_add(&sql, STR(" AND flags = 0 AND length(totals) <= 4 GROUP BY image "
                      "ORDER BY min(created), image FORMAT RowBinary"));
    ok = selection_ask(u->k, &sql, &u->image_reply, err);
    r = unpack_begin(buf_str(&u->image_reply));
    while (ok && wire_more(&r))
        ok = (unrow_u64(&r, &image) && loader_want(&u->l, DICT_IMAGE, image)) ||
             scan_damaged(err);
    buf_release(&sql);
    return ok;
}

/* --- handing over --------------------------------------------------------- */

/* Changes stand behind the values, one for each cumulative type. */
static void add_stack(const struct summing *u, const struct plan *p,
                      const struct summed_stack *row, int64_t *sum)
{
    size_t extra = p->totals.n;

    for (size_t i = 0; i < p->totals.n; i++)
        sum[i] = i64_add(sum[i], row->values[i]);
    for (size_t i = 0; has_changes(u) && i < p->totals.n; i++)
        if (p->cumulative >> i & 1) {
            sum[extra] = i64_add(sum[extra], row->changes[i]);
            extra++;
        }
}

/* The sums of one plan; they come in the order of the plans. */
static bool take_sums(struct summing *u, const struct plan *p)
{
    struct summed_stack row;

    while (wire_more(&u->at)) {
        const unsigned char *start = u->at.at;
        uint32_t node, labels;
        int64_t *sum;

        if (!read_stack(u, &u->at, &row))
            return false;
        if (row.step > p->step ||
            (row.step == p->step && row.header > p->header)) {
            u->at.at = start; /* the next plan's */
            return true;
        }
        if (row.step != p->step || row.header != p->header)
            continue; /* came since the plan was made */
        if (!loader_number(&u->l, KIND_STACK, row.stack, &node) ||
            !loader_number(&u->l, DICT_LABELS, row.labels, &labels) ||
            !(sum = sums_at(&u->sums, node, labels)))
            return false;
        add_stack(u, p, &row, sum);
    }
    return true;
}

static bool make_samples(struct summing *u)
{
    const struct sums *s = &u->sums;

    if (!row_samples_resize(&u->samples, s->n, s->columns))
        return false;
    for (size_t i = 0; i < s->n; i++) {
        u->samples.nodes[i] = s->keys[i].node;
        u->samples.labels[i] = s->keys[i].labels;
    }
    if (s->n)
        memcpy(u->samples.values, s->values,
               s->n * s->columns * sizeof(*s->values));
    return true;
}

static bool make_meta(struct summing *u, const struct plan *p)
{
    struct row_meta *m = &u->meta;

    if (!row_meta_totals(m, p->totals.n) ||
        !loader_number(&u->l, DICT_HEADER, p->header, &m->header))
        return false;
    m->created_ns = p->newest;
    m->time_ns = p->time;
    m->duration_ns = p->duration;
    m->period = p->period;
    m->profiles = p->profiles;
    m->samples = p->samples;
    m->flags = ROW_SUM;
    for (size_t i = 0; i < p->totals.n; i++)
        m->totals[i] = (int64_t)unrow_at(&p->totals, i);
    return true;
}

/* Readers that adopt the dictionary want to hear of every image. */
static bool hand_images(struct summing *u, struct scan_row *row,
                        struct error *err)
{
    struct wire_reader r = unpack_begin(buf_str(&u->image_reply));
    struct row_samples none = {.columns = u->samples.columns};
    uint64_t image;

    u->meta.profiles = 0;
    u->meta.duration_ns = 0;
    while (wire_more(&r)) {
        if (!unrow_u64(&r, &image) ||
            !loader_number(&u->l, DICT_IMAGE, image, &u->meta.image))
            return scan_damaged(err);
        if (!scan_deliver(u->k->c, row, &u->meta, &none, NULL, err))
            return false;
    }
    return true;
}

static bool hand_plan(struct summing *u, const struct plan *p, bool first,
                      struct error *err)
{
    struct scan_row row = {.d = &u->l.d};
    size_t more = (size_t)__builtin_popcountll(p->cumulative);
    bool ok;

    sums_release(&u->sums);
    u->sums = (struct sums){.columns = p->totals.n + more};
    ok = take_sums(u, p) &&
         (!u->has_cumulative || u->k->of_sums ||
          step_changes_add(&u->changes, p->step, p->header, p->cumulative,
                           p->totals.n, &u->sums)) &&
         make_samples(u) && make_meta(u, p);
    if (!ok)
        return scan_damaged(err);
    u->meta.image = 0;
    if (u->image_reply.len) {
        struct wire_reader r = unpack_begin(buf_str(&u->image_reply));
        uint64_t image;

        if (!unrow_u64(&r, &image) ||
            !loader_number(&u->l, DICT_IMAGE, image, &u->meta.image))
            return scan_damaged(err);
    }
    return scan_deliver(u->k->c, &row, &u->meta, &u->samples, NULL, err) &&
           (!first || hand_images(u, &row, err));
}

static bool hand_all(struct summing *u, struct error *err)
{
    bool ok = scan_begin_segment(u->k->c, &u->l.d, err);

    u->at = unpack_begin(buf_str(&u->sums_reply));
    for (size_t i = 0; ok && i < u->n; i++)
        ok = hand_plan(u, &u->plans[i], i == 0, err);
    return ok && scan_end_segment(u->k->c, &u->l.d, err);
}

static bool run(struct summing *u, struct error *err)
{
    struct scan *c = u->k->c;

    if (!make_plan(u, err))
        return false;
    if (u->n) {
        if (!ask_sums(u, err) || (!want_sums(u) && !scan_damaged(err)) ||
            (c->segment_end && !ask_images(u, err)) ||
            (u->has_cumulative && c->with_changes && !u->k->of_sums &&
             !step_changes_ask(&u->changes, err)))
            return false;
        if (!loader_run(&u->l, err)) {
            c->status = u->l.status;
            return false;
        }
        if (!hand_all(u, err))
            return false;
    }
    return !u->has_wide ||
           scan_profiles(u->k, " AND flags = 0 AND length(totals) > 4", err);
}

bool scan_sums(struct selection *k, struct error *err)
{
    struct summing u = {.k = k};
    bool ok = selection_loader(k, &u.l, err);

    u.plan_reply = u.sums_reply = u.image_reply = BUF_INIT(STORE_BUF_BYTES);
    step_changes_init(&u.changes, k, &u.l);
    ok = ok && run(&u, err);
    buf_release(&u.plan_reply);
    buf_release(&u.sums_reply);
    buf_release(&u.image_reply);
    step_changes_release(&u.changes);
    sums_release(&u.sums);
    row_meta_release(&u.meta);
    row_samples_release(&u.samples);
    loader_release(&u.l);
    free(u.plans);
    return ok;
}
