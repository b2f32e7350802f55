/*
 * What the log holds becomes the open segments again.  Rows that a day file
 * has already, because the process ended between sealing and trimming the
 * log, are left out: each day file says which generations of a service it
 * has.
 */
#include <stdlib.h>
#include <string.h>

#include "store/pack.h"
#include "store/sqlite/engine.h"

static bool damaged(int64_t seq, struct error *err)
{
    return error_set(err,
                     "head.db: row %lld of the log is damaged; run `pprofd "
                     "check`",
                     (long long)seq);
}

/* Has the file got this generation? */
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

/* Has the day file of the row got this generation? */
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

/* Has any? */
static bool is_sealed_anywhere(struct sqlite_store *s, struct str service,
                               uint64_t generation, bool *out,
                               struct error *err)
{
    struct day **files;
    size_t n;
    bool ok = true;

    *out = false;
    if (!days_between(s, STORE_RAW, INT64_MIN, INT64_MAX, &files, &n))
        return error_set(err, "out of memory");
    for (size_t i = 0; i < n; i++) {
        if (ok && !*out)
            ok = day_has(s, files[i], service, generation, out, err);
        day_put(s, files[i]);
    }
    free(files);
    return ok;
}

/*
 * When a segment has been sealed, the log is trimmed up to the oldest row
 * that another service needs; rows behind that may hold the rest of the
 * sealed segment, without its beginning.
 */
static bool is_rest(const struct open_segment *g, struct wire_reader at,
                    bool *out)
{
    uint32_t strings;

    if (!unpack_u32(&at, &strings))
        return false;
    *out = g->n_rows == 0 && strings > g->d.tables[DICT_STRING].n;
    return true;
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

static bool replay_entry(struct sqlite_store *s, struct str bytes, int64_t seq,
                         struct error *err)
{
    struct wire_reader r = unpack_begin(bytes);
    struct open_segment *g;
    struct open_row *row;
    struct service *v;
    struct str name;
    uint64_t generation;
    bool sealed;

    if (!unpack_bytes(&r, &name) || !wire_read_varint(&r, &generation))
        return damaged(seq, err);
    v = service_get(s, name, true);
    g = v ? segment_for(s, v, generation, err) : NULL;
    if (!g) {
        if (v)
            service_put(s, v);
        return v ? false : error_set(err, "out of memory");
    }
    if (!is_rest(g, r, &sealed)) {
        service_put(s, v);
        return damaged(seq, err);
    }
    if (sealed) {
        open_segment_free(g);
        v->open = NULL;
        service_put(s, v);
        if (!is_sealed_anywhere(s, name, generation, &sealed, err))
            return false;
        return sealed || damaged(seq, err);
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

static bool replay_record(struct sqlite_store *s, struct str record,
                          int64_t seq, struct error *err)
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
        else if (!replay_entry(s, entry, seq, err))
            return false;
    return true;
}

struct replaying {
    struct sqlite_store *s;
    struct error *err;
};

/* The last row of each series, so that the next one can be stored as
 * changes. */
static bool remember_last(struct service *v, void *arg)
{
    struct replaying *k = arg;
    struct open_reader r = {0};
    bool ok = true;

    for (uint32_t i = 0; ok && v->open && i < v->open->n_series; i++)
        ok = open_series_recall(v->open, i, &r, k->err);
    open_reader_release(&r);
    return ok && seal_retire(k->s, v, k->err);
}

bool replay(struct sqlite_store *s, struct error *err)
{
    sqlite3_stmt *st =
        db_prepare(s->head, "SELECT seq, b FROM log ORDER BY seq", err);
    bool more = true, ok = st != NULL;

    s->next_seq = 1;
    while (ok && (ok = db_step(s->head, st, &more, "read", err)) && more) {
        int64_t seq = sqlite3_column_int64(st, 0);
        struct str record = db_column_str(st, 1);

        ok = replay_record(s, record, seq, err);
        s->next_seq = seq + 1;
        atomic_store(&s->settled_seq, seq);
        atomic_fetch_add(&s->log_bytes, (long long)record.n);
    }
    sqlite3_finalize(st);
    return ok && service_each(s, remember_last, &(struct replaying){s, err});
}
