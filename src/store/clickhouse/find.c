/*
 * One profile by its id: where it is says pprofd_ids.
 */
#include <inttypes.h>

#include "store/clickhouse/scan.h"
#include "store/clickhouse/sql.h"

struct place {
    struct str service, type;
    int64_t created;
};

static enum store_status ask(struct ch_store *s, struct buf *sql,
                             struct buf *reply, struct error *err)
{
    struct ch_request r = {.sql = buf_str(sql), .out = reply};

    return buf_ok(sql) ? ch_run(s->client, &r, err) : store_no_memory(err);
}

static enum store_status find_place(struct ch_store *s,
                                    const struct store_id *id,
                                    struct buf *reply, struct place *out,
                                    struct error *err)
{
    struct buf sql = BUF_INIT(4096);
    char text[STORE_ID_TEXT + 1];
    enum store_status status;
    struct wire_reader r;

    buf_add(&sql, STR("SELECT service, type, created FROM pprofd_ids WHERE "
                      "id = "));
    sql_id(&sql, id);
    buf_add(&sql, STR(" LIMIT 1 FORMAT RowBinary"));
    status = ask(s, &sql, reply, err);
    buf_release(&sql);
    if (status != STORE_OK)
        return status;
    r = unpack_begin(buf_str(reply));
    if (!wire_more(&r)) {
        store_id_format(id, text);
        error_set(err, "no profile with id %s", text);
        return STORE_NOT_FOUND;
    }
    if (unrow_text(&r, &out->service) && unrow_text(&r, &out->type) &&
        unrow_i64(&r, &out->created))
        return STORE_OK;
    scan_damaged(err);
    return STORE_FAILED;
}

static void where_it_is(const struct place *p, const struct store_id *id,
                        struct buf *sql)
{
    buf_add(sql, STR(" FROM pprofd_profiles WHERE "));
    sql_range(sql, p->created, p->created);
    buf_add(sql, STR(" AND service = "));
    sql_text(sql, p->service);
    buf_add(sql, STR(" AND type = "));
    sql_text(sql, p->type);
    buf_add(sql, STR(" AND id = "));
    sql_id(sql, id);
    buf_add(sql, STR(" LIMIT 1 FORMAT RowBinary"));
}

/* Runs what scans use on the one row. */
static enum store_status hand_row(struct ch_store *s, const struct place *p,
                                  struct str reply, scan_each_row *row,
                                  void *arg, struct error *err)
{
    struct store_query q = {.from_ns = p->created, .to_ns = p->created};
    struct scan c = {.s = &s->base, .q = &q, .row = row, .arg = arg};
    struct selection k = {.c = &c, .s = s};
    struct changes changes = {0};
    struct wire_reader r = unpack_begin(reply);
    struct buf where = BUF_INIT(256);
    struct ch_row found;
    bool ok;

    scan_begin(&c);
    k.records = BUF_INIT((size_t)1 << 20);
    buf_addf(&k.records,
             "week = toDate(toUInt16(%u)) AND service = ", ch_week(p->created));
    sql_text(&k.records, p->service);
    buf_add(&k.records, STR(" AND "));
    ok = ch_row_read(&r, true, &found) || scan_damaged(err);
    if (ok && found.cumulative) {
        buf_addf(&where, " AND series = %" PRIu64, found.series);
        c.status = ch_changes_load(&changes, s, buf_str(&where), STR(""),
                                   p->created, p->created, NULL, err);
        ok = c.status == STORE_OK;
    }
    ok = ok && scan_hand_over(&k, reply, true, &changes, err);
    ch_changes_release(&changes);
    buf_release(&where);
    buf_release(&k.records);
    return scan_end(&c, ok);
}

enum store_status ch_find(struct store *store, const struct store_id *id,
                          scan_each_row *row, void *arg, struct error *err)
{
    struct ch_store *s = ch_of(store);
    struct buf at = BUF_INIT((size_t)1 << 20),
               reply = BUF_INIT(STORE_BUF_BYTES);
    struct buf sql = BUF_INIT((size_t)4 << 20);
    enum store_status status = ch_prepare(s, err);
    struct place p;

    if (status == STORE_OK)
        status = find_place(s, id, &at, &p, err);
    if (status == STORE_OK) {
        buf_add(&sql, STR("SELECT " ROW_COLUMNS OF_PROFILES ROW_SAMPLES));
        where_it_is(&p, id, &sql);
        status = ask(s, &sql, &reply, err);
    }
    if (status == STORE_OK && reply.len == 0) { /* just dropped */
        error_set(err, "the profile has expired");
        status = STORE_NOT_FOUND;
    }
    if (status == STORE_OK)
        status = hand_row(s, &p, buf_str(&reply), row, arg, err);
    buf_release(&at);
    buf_release(&reply);
    buf_release(&sql);
    return status;
}

enum store_status ch_blob(struct store *store, const struct store_id *id,
                          int64_t created_ns, struct buf *out,
                          struct error *err)
{
    struct ch_store *s = ch_of(store);
    struct buf sql = BUF_INIT(4096), reply = BUF_INIT(STORE_BUF_BYTES);
    enum store_status status;
    struct wire_reader r;
    struct str blob;

    buf_add(&sql, STR("SELECT blob FROM pprofd_profiles WHERE "));
    sql_range(&sql, created_ns, created_ns);
    buf_add(&sql, STR(" AND id = "));
    sql_id(&sql, id);
    buf_add(&sql, STR(" LIMIT 1 FORMAT RowBinary"));
    status = ask(s, &sql, &reply, err);
    r = unpack_begin(buf_str(&reply));
    if (status == STORE_OK && !unrow_text(&r, &blob)) {
        scan_damaged(err);
        status = STORE_FAILED;
    } else if (status == STORE_OK) {
        buf_add(out, blob);
        if (!buf_ok(out))
            status = store_no_memory(err);
    }
    buf_release(&sql);
    buf_release(&reply);
    return status;
}
