/*
 * What the log holds becomes the open segments again.
 *
 * Rows of segments that are marked as sealed (log.c) are left out.  So are
 * rows that a day file has already, because the process ended between sealing
 * and the mark: each day file says which generations of a service it has.
 */
#include <stdlib.h>
#include <string.h>

#include "store/pack.h"
#include "store/sqlite/engine.h"

struct replaying {
    struct sqlite_store *s;
    sqlite3_stmt *marks;
};

static bool damaged(int64_t seq, struct error *err)
{
    return error_set(err,
                     "head.db: row %lld of the log is damaged; run `pprofd "
                     "check`",
                     (long long)seq);
}

/* Returns true if the segment is complete in the day files. */
static bool is_marked(struct replaying *k, struct str service,
                      uint64_t generation, bool *out, struct error *err)
{
    bool ok;

    db_bind_str(k->marks, 1, service);
    sqlite3_bind_int64(k->marks, 2, (int64_t)generation);
    ok = db_step(k->s->head, k->marks, out, "read", err);
    sqlite3_reset(k->marks);
    return ok;
}

/* Returns true if the file has this generation. */
static bool day_has(struct sqlite_store *s, struct day *day, struct str service,
                    uint64_t generation, bool *out, struct error *err)
{
    struct day_conn *c = day_connect(s, day, err);
    sqlite3_stmt *st = c ? day_statement(c, DAY_SEALED, err) : NULL;
    bool ok = st != NULL;

    if (ok) {
        db_bind_str(st, 1, service);
        sqlite3_bind_int64(st, 2, (int64_t)generation);
        ok = db_step(c->db, st, out, "read", err);
        sqlite3_reset(st);
    }
    if (c)
        day_disconnect(s, day, c);
    return ok;
}

/* Returns true if the day file of the row has this generation. */
static bool is_sealed(struct sqlite_store *s, struct str service,
                      uint64_t generation, int64_t created_ns, bool *out,
                      struct error *err)
{
    struct day *day =
        day_get(s, day_number(s, created_ns), STORE_RAW, false, err);
    bool ok;

    *out = false;
    if (!day)
        return true;
    ok = day_has(s, day, service, generation, out, err);
    day_put(s, day);
    return ok;
}

/* The segment that an entry belongs to.  The one before it, if it still has
 * rows, waits to be sealed. */
static struct open_segment *segment_for(struct sqlite_store *s,
                                        struct service *v, uint64_t generation,
                                        struct error *err)
{
    if (v->open && v->open->generation == generation)
        return v->open;
    if (v->open) {
        if (v->sealing && !seal_service(s, v, err))
            return NULL;
        v->sealing = v->open;
        v->open = NULL;
    }
    v->open = open_segment_new(s->opt.max_label_values);
    if (!v->open)
        error_set(err, "out of memory");
    else
        v->open->generation = generation;
    return v->open;
}

static struct open_row *read_row(struct wire_reader *r,
                                 const struct open_segment *g)
{
    struct row_meta m = {0};
    struct wire_reader at;
    uint32_t meta_n, before_n, samples_n;
    struct open_row *row = NULL;
    size_t n;

    if (!unpack_u32(r, &meta_n) || !unpack_u32(r, &before_n) ||
        !unpack_u32(r, &samples_n))
        return NULL;
    n = (size_t)meta_n + before_n + samples_n;
    at = unpack_begin(str_of((const char *)r->at, meta_n));
    if (n != (size_t)(r->end - r->at) || !row_meta_unpack(&m, &at, &g->d) ||
        !(row = malloc(sizeof(*row) + n))) {
        row_meta_release(&m);
        return NULL;
    }
    *row = (struct open_row){.id = m.id, .series = m.series};
    row->created_ns = m.created_ns;
    row->meta_n = meta_n;
    row->before_n = before_n;
    row->samples_n = samples_n;
    memcpy(row->bytes, r->at, n);
    row_meta_release(&m);
    return row;
}

static bool replay_entry(struct replaying *k, struct str bytes, int64_t seq,
                         struct error *err)
{
    struct wire_reader r = unpack_begin(bytes);
    struct sqlite_store *s = k->s;
    struct open_segment *g;
    struct open_row *row;
    struct service *v;
    struct str name;
    uint64_t generation;
    bool sealed;

    if (!unpack_bytes(&r, &name) || !wire_read_varint(&r, &generation))
        return damaged(seq, err);
    if (!is_marked(k, name, generation, &sealed, err))
        return false;
    if (sealed)
        return true;
    v = service_get(s, name, true);
    g = v ? segment_for(s, v, generation, err) : NULL;
    if (!g) {
        if (v)
            service_put(s, v);
        return v ? false : error_set(err, "out of memory");
    }
    row = dict_read_since(&g->d, &r) ? read_row(&r, g) : NULL;
    service_put(s, v);
    if (!row)
        return damaged(seq, err);
    if (!is_sealed(s, name, generation, row->created_ns, &sealed, err) ||
        !open_segment_add(g, row)) {
        free(row);
        return false;
    }
    /* A sealed row stays for the sake of those stored as changes to it. */
    row->state = sealed ? ROW_PENDING : ROW_DONE;
    if (!g->first_seq)
        g->first_seq = seq;
    g->logged = dict_size(&g->d);
    return true;
}

static bool replay_record(struct replaying *k, struct str record, int64_t seq,
                          struct error *err)
{
    struct wire_reader r;
    struct str entry;
    uint64_t sum;

    if (record.n < sizeof(sum))
        return damaged(seq, err);
    memcpy(&sum, record.s, sizeof(sum));
    record = str_skip(record, sizeof(sum));
    if (sum != log_checksum(record))
        return damaged(seq, err);
    for (r = unpack_begin(record); wire_more(&r);)
        if (!unpack_bytes(&r, &entry))
            return damaged(seq, err);
        else if (!replay_entry(k, entry, seq, err))
            return false;
    return true;
}

struct recalling {
    struct sqlite_store *s;
    struct error *err;
};

/* The last row of each series, so that the next one can be stored as
 * changes. */
static bool remember_last(struct service *v, void *arg)
{
    struct recalling *k = arg;
    struct open_reader r = {0};
    bool ok = true;

    for (uint32_t i = 0; ok && v->open && i < v->open->n_series; i++)
        ok = open_series_recall(v->open, i, &r, k->err);
    open_reader_release(&r);
    return ok && seal_retire(k->s, v, k->err);
}

static bool replay_log(struct replaying *k, struct error *err)
{
    struct sqlite_store *s = k->s;
    sqlite3_stmt *st =
        db_prepare(s->head, "SELECT seq, b FROM log ORDER BY seq", err);
    bool more = true, ok = st != NULL;

    s->next_seq = 1;
    while (ok && (ok = db_step(s->head, st, &more, "read", err)) && more) {
        int64_t seq = sqlite3_column_int64(st, 0);
        struct str record = db_column_str(st, 1);

        ok = replay_record(k, record, seq, err);
        s->next_seq = seq + 1;
        atomic_store(&s->settled_seq, seq);
        atomic_fetch_add(&s->log_bytes, (long long)record.n);
    }
    sqlite3_finalize(st);
    return ok;
}

bool replay(struct sqlite_store *s, struct error *err)
{
    struct replaying k = {.s = s};
    bool ok;

    k.marks = db_prepare(
        s->head, "SELECT 1 FROM sealed WHERE service=? AND generation=?", err);
    ok = k.marks && replay_log(&k, err);
    sqlite3_finalize(k.marks);
    return ok && service_each(s, remember_last, &(struct recalling){s, err});
}
