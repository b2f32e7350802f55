/*
 * Profiles one by one, and descriptions.
 */
#include <inttypes.h>

#include "base/i64.h"
#include "store/clickhouse/scan.h"
#include "store/clickhouse/sql.h"

enum { ROWS_AT_ONCE = 200 };

/* --- handing over --------------------------------------------------------- */

struct handing {
    struct selection *k;
    bool with_samples;
    const struct changes *changes; /* or NULL */
    struct loader l;
    struct row_meta meta;
    struct row_samples samples;
    struct buf extras;
};

static bool want_all(struct handing *h, struct str reply)
{
    struct wire_reader r = unpack_begin(reply);
    struct ch_row row;

    while (wire_more(&r))
        if (!ch_row_read(&r, h->with_samples, &row) ||
            !ch_row_want(&row, h->with_samples, &h->l))
            return false;
    return true;
}

static bool hand_row(struct handing *h, const struct ch_row *row,
                     struct error *err)
{
    struct scan *c = h->k->c;
    struct scan_row out = {
        .service = row->service, .type = row->type, .d = &h->l.d};

    if (!ch_pack_labels(row->label_keys, row->label_values, row->n_labels,
                        &c->label_text) ||
        !ch_row_meta(row, h->with_samples, &h->l, &h->meta, &h->extras) ||
        (h->with_samples && !ch_row_samples(row, &h->l, &h->samples)))
        return scan_damaged(err);
    out.labels = buf_str(&c->label_text);
    if (h->changes)
        ch_changes_apply(h->changes, &h->meta);
    return scan_deliver(c, &out, &h->meta, h->with_samples ? &h->samples : NULL,
                        NULL, err);
}

static bool hand_all(struct handing *h, struct str reply, struct error *err)
{
    struct wire_reader r = unpack_begin(reply);
    struct scan *c = h->k->c;
    bool ok = scan_begin_segment(c, &h->l.d, err);
    struct ch_row row;

    while (ok && wire_more(&r))
        ok = (ch_row_read(&r, h->with_samples, &row) || scan_damaged(err)) &&
             hand_row(h, &row, err);
    return ok && scan_end_segment(c, NULL, err);
}

bool scan_hand_over(struct selection *k, struct str reply, bool with_samples,
                    const struct changes *changes, struct error *err)
{
    struct handing h = {
        .k = k, .with_samples = with_samples, .changes = changes};
    bool ok = selection_loader(k, &h.l, err);

    h.extras = BUF_INIT(STORE_BUF_BYTES);
    if (ok && !want_all(&h, reply))
        ok = scan_damaged(err);
    if (ok && !loader_run(&h.l, err)) {
        k->c->status = h.l.status;
        ok = false;
    }
    ok = ok && hand_all(&h, reply, err);
    loader_release(&h.l);
    row_meta_release(&h.meta);
    row_samples_release(&h.samples);
    buf_release(&h.extras);
    return ok;
}

/* --- profiles ------------------------------------------------------------- */

/* The last row of a reply, and how many there are. */
static bool find_last(struct str reply, bool with_samples, struct ch_row *last,
                      size_t *n)
{
    struct wire_reader r = unpack_begin(reply);

    for (*n = 0; wire_more(&r); ++*n)
        if (!ch_row_read(&r, with_samples, last))
            return false;
    return true;
}

static void write_page(const struct selection *k, const char *more,
                       const struct ch_row *after, struct buf *sql)
{
    buf_addf(sql, "SELECT " ROW_COLUMNS "%s" ROW_SAMPLES " FROM %s",
             k->of_sums ? OF_SUMS : OF_PROFILES, k->table);
    selection_where(k, sql);
    buf_add(sql, str_from(more));
    if (after) {
        buf_addf(sql,
                 " AND (created > %" PRIi64 " OR (created = %" PRIi64
                 " AND id > ",
                 after->created, after->created);
        sql_id(sql, &after->id);
        buf_add(sql, STR("))"));
    }
    buf_addf(sql,
             " ORDER BY created, id LIMIT 1 BY id LIMIT %d FORMAT RowBinary",
             ROWS_AT_ONCE);
}

bool scan_profiles(struct selection *k, const char *more, struct error *err)
{
    struct buf sql = BUF_INIT((size_t)16 << 20);
    struct buf reply = BUF_INIT(STORE_BUF_BYTES);
    struct ch_row last;
    size_t n = 0;
    bool ok = true;

    for (bool first = true; ok && (first || n == ROWS_AT_ONCE); first = false) {
        buf_clear(&sql);
        write_page(k, more, first ? NULL : &last, &sql);
        buf_clear(&reply);
        ok = selection_ask(k, &sql, &reply, err) &&
             (find_last(buf_str(&reply), true, &last, &n) ||
              scan_damaged(err)) &&
             (n == 0 || scan_hand_over(k, buf_str(&reply), true, NULL, err));
    }
    buf_release(&sql);
    buf_release(&reply);
    return ok;
}

/* --- descriptions --------------------------------------------------------- */

/* ClickHouse sorts and cuts, if the reader wants a page. */
static void add_page(const struct scan *c, struct buf *where, struct buf *order)
{
    const struct store_page *page = c->page;
    const char *way = page && page->newest_first ? " DESC" : "";

    if (page && page->after_ns) {
        const char *op = page->newest_first ? "<" : ">";

        buf_addf(where,
                 " AND (created %s %" PRIi64 " OR (created = %" PRIi64
                 " AND id %s ",
                 op, page->after_ns, page->after_ns, op);
        sql_id(where, &page->after_id);
        buf_add(where, STR("))"));
    }
    buf_addf(order, " ORDER BY created%s, id%s LIMIT 1 BY id", way, way);
    if (page && page->limit)
        buf_addf(order, " LIMIT %zu", page->limit);
}

/* Changes of the series that are on the page, or of all. */
static bool load_changes(struct selection *k, struct str reply,
                         struct changes *out, struct error *err)
{
    struct wire_reader r = unpack_begin(reply);
    struct buf where = BUF_INIT((size_t)15 << 20);
    int64_t from = k->c->q->to_ns, to = k->c->q->from_ns;
    uint64_t last = 0;
    bool some = false, ok = true;
    struct ch_row row;

    buf_add(&where, buf_str(&k->matchers));
    while (ok && wire_more(&r)) {
        ok = ch_row_read(&r, false, &row) || scan_damaged(err);
        if (!ok || !row.cumulative || row.flags)
            continue;
        from = row.created < from ? row.created : from;
        to = row.created > to ? row.created : to;
        if (k->c->page && k->c->page->limit && (!some || row.series != last))
            buf_addf(&where, "%s%" PRIu64, some ? "," : " AND series IN (",
                     row.series);
        last = row.series;
        some = true;
    }
    if (some && k->c->page && k->c->page->limit)
        buf_add(&where, STR(")"));
    if (ok && some) {
        enum store_status status =
            buf_ok(&where)
                ? ch_changes_load(out, k->s, buf_str(&where), STR(""), from, to,
                                  k->c->budget, err)
                : store_no_memory(err);

        ok = status == STORE_OK;
        if (!ok)
            k->c->status = status;
    }
    buf_release(&where);
    return ok;
}

static bool describe_rows(struct selection *k, const char *more,
                          struct error *err)
{
    struct buf sql = BUF_INIT((size_t)16 << 20);
    struct buf order = BUF_INIT(4096);
    struct buf reply = BUF_INIT(STORE_BUF_BYTES);
    struct changes changes = {0};
    bool ok;

    buf_add(&sql,
            STR("SELECT " ROW_COLUMNS OF_PROFILES " FROM pprofd_profiles"));
    selection_where(k, &sql);
    buf_add(&sql, str_from(more));
    add_page(k->c, &sql, &order);
    buf_add(&sql, buf_str(&order));
    buf_add(&sql, STR(" FORMAT RowBinary"));
    ok = selection_ask(k, &sql, &reply, err);
    if (ok && k->c->with_changes)
        ok = load_changes(k, buf_str(&reply), &changes, err);
    ok = ok && (reply.len == 0 ||
                scan_hand_over(k, buf_str(&reply), false, &changes, err));
    ch_changes_release(&changes);
    buf_release(&sql);
    buf_release(&order);
    buf_release(&reply);
    return ok;
}

/* --- descriptions, added up by ClickHouse --------------------------------- */

struct summed {
    struct scan_row row;
    struct str keys, values;
    size_t n_labels;
    uint64_t header, flags, profiles;
    int64_t created, time, duration, period;
    struct unrow_array totals, changes;
};

static bool read_summed(struct wire_reader *r, struct summed *u)
{
    size_t n;

    return unrow_text(r, &u->row.service) && unrow_text(r, &u->row.type) &&
           unrow_texts(r, &u->keys, &u->n_labels) &&
           unrow_texts(r, &u->values, &n) && n == u->n_labels &&
           unrow_u64(r, &u->header) && unrow_u64(r, &u->flags) &&
           unrow_i64(r, &u->created) && unrow_i64(r, &u->time) &&
           unrow_i64(r, &u->duration) && unrow_i64(r, &u->period) &&
           unrow_u64(r, &u->profiles) && unrow_array(r, &u->totals) &&
           unrow_array(r, &u->changes);
}

static bool hand_summed(struct selection *k, struct loader *l, struct summed *u,
                        struct row_meta *m, struct error *err)
{
    if (!row_meta_totals(m, u->totals.n) ||
        !loader_number(l, DICT_HEADER, u->header, &m->header) ||
        !ch_pack_labels(u->keys, u->values, u->n_labels, &k->c->label_text))
        return scan_damaged(err);
    m->created_ns = u->created;
    m->time_ns = u->time;
    m->duration_ns = u->duration;
    m->period = u->period;
    m->profiles = u->profiles;
    m->flags = ROW_SUM | (u->flags & ROW_OPAQUE);
    for (size_t i = 0; i < u->totals.n; i++)
        m->totals[i] = (int64_t)unrow_at(&u->totals, i);
    if (k->c->with_changes && u->changes.n == u->totals.n) {
        m->flags |= ROW_CHANGES;
        for (size_t i = 0; i < u->changes.n; i++)
            m->changes[i] = (int64_t)unrow_at(&u->changes, i);
    }
    u->row.labels = buf_str(&k->c->label_text);
    u->row.d = &l->d;
    return scan_deliver(k->c, &u->row, m, NULL, NULL, err);
}

static bool hand_all_summed(struct selection *k, struct str reply,
                            struct error *err)
{
    struct wire_reader r = unpack_begin(reply);
    struct row_meta meta = {0};
    struct summed u = {0};
    struct loader l;
    bool ok = selection_loader(k, &l, err);

    while (ok && wire_more(&r))
        ok = (read_summed(&r, &u) && loader_want(&l, DICT_HEADER, u.header)) ||
             scan_damaged(err);
    if (ok && !loader_run(&l, err)) {
        k->c->status = l.status;
        ok = false;
    }
    r = unpack_begin(reply);
    while (ok && wire_more(&r))
        ok = (read_summed(&r, &u) || scan_damaged(err)) &&
             hand_summed(k, &l, &u, &meta, err);
    row_meta_release(&meta);
    loader_release(&l);
    return ok;
}

static bool sum_descriptions(struct selection *k, struct error *err)
{
    struct buf sql = BUF_INIT((size_t)16 << 20);
    struct buf reply = BUF_INIT(STORE_BUF_BYTES);
    bool ok;

    buf_addf(&sql,
             "SELECT any(service), any(type), any(label_keys), "
             "any(label_values), header, flags, max(created), "
             "minIf(time, time != 0), sum(duration), max(period), %s, "
             "sumForEach(totals), %s FROM ",
             k->of_sums ? "sum(profiles)" : "count()",
             k->of_sums ? "sumForEach(changes)" : "emptyArrayInt64()");
    selection_once(k,
                   k->of_sums
                       ? "id, service, type, label_keys, label_values, "
                         "series, header, flags, created, time, duration, "
                         "period, totals, profiles, changes"
                       : "id, service, type, label_keys, label_values, "
                         "series, header, flags, created, time, duration, "
                         "period, totals",
                   k->of_sums ? "" : " AND cumulative = 0", &sql);
    buf_add(&sql, STR(" GROUP BY series, header, flags, "));
    selection_step(k, &sql);
    buf_add(&sql, STR(" FORMAT RowBinary"));
    ok = selection_ask(k, &sql, &reply, err) &&
         (reply.len == 0 || hand_all_summed(k, buf_str(&reply), err));
    buf_release(&sql);
    buf_release(&reply);
    return ok;
}

bool scan_descriptions(struct selection *k, struct error *err)
{
    if (!k->c->use_sums)
        return describe_rows(k, "", err);
    return sum_descriptions(k, err) &&
           (k->of_sums || describe_rows(k, " AND cumulative != 0", err));
}
