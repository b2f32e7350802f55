/*
 * One profile, by its id.
 */
#include <stdlib.h>
#include <string.h>

#include "store/build.h"
#include "store/header.h"
#include "store/pack.h"
#include "store/segment.h"
#include "store/sqlite/scan.h"

#define BLOB_LIMIT ((size_t)4 << 30)

struct finder {
    struct sqlite_store *s;
    const struct store_id *id;
    bool (*row)(void *arg, const struct scan_row *row, struct error *err);
    void *arg;
    struct error *err;
    bool found, failed;
    struct buf labels;
};

static bool is_it(const struct finder *f, const struct row_meta *m)
{
    return memcmp(&m->id, f->id, sizeof(*f->id)) == 0;
}

static void hand_over(struct finder *f, struct scan_row *row,
                      const struct row_meta *m,
                      const struct row_samples *samples)
{
    size_t types;

    row->meta = m;
    row->samples = samples;
    f->found = true;
    f->failed =
        !dict_header_types(row->d, m->header, &types, &row->cumulative) ||
        !f->row(f->arg, row, f->err);
}

/*
 * Memory.
 */

static bool find_in(struct finder *f, const struct service *v,
                    const struct open_segment *g)
{
    struct open_row *at = open_segment_find(g, f->id);
    struct open_reader r = {0};
    struct scan_row row = {.service = v->name};
    bool more;

    if (!at || at->state != ROW_DONE)
        return false;
    row.d = &g->d;
    f->failed = !series_text(&g->d, at->series, &row.type, &f->labels);
    row.labels = buf_str(&f->labels);
    open_reader_begin(&r, g, at->series, true);
    while (!f->failed && !f->found) {
        if (!open_reader_next(&r, &more, f->err)) {
            f->failed = true;
            break;
        }
        if (!more)
            break;
        if (is_it(f, &r.meta))
            hand_over(f, &row, &r.meta, &r.samples);
    }
    open_reader_release(&r);
    return f->found || f->failed;
}

static bool find_in_service(struct service *v, void *arg)
{
    struct finder *f = arg;
    bool done;

    pthread_mutex_lock(&v->lock);
    done = find_in(f, v, v->open) || find_in(f, v, v->sealing);
    pthread_mutex_unlock(&v->lock);
    return !done;
}

/*
 * Day files.
 */

struct day_find {
    struct finder *f;
    struct day *day;
    struct day_conn *c;
    int64_t series, t; /* seconds */
};

static bool read_block(struct day_find *k, int64_t block, int64_t segment,
                       struct scan_row *row)
{
    struct finder *f = k->f;
    sqlite3_stmt *dict = day_statement(k->c, DAY_DICT, f->err);
    sqlite3_stmt *st = day_statement(k->c, DAY_BLOCK, f->err);
    struct block_reader r = {0};
    struct dict d = {0};
    bool more, ok = dict && st;

    if (ok) {
        sqlite3_bind_int64(dict, 1, segment);
        sqlite3_bind_int64(st, 1, block);
        ok = db_step(k->c->db, dict, &more, "read", f->err) && more &&
             segment_unpack(db_column_str(dict, 0), &d, f->err) &&
             db_step(k->c->db, st, &more, "read", f->err) && more &&
             block_open(&r, db_column_str(st, 0), db_column_str(st, 1), true,
                        &d, f->err);
        sqlite3_reset(dict);
        sqlite3_reset(st);
    }
    row->d = &d;
    while (ok && !f->found && (ok = block_next(&r, &more, f->err)) && more)
        if (is_it(f, &r.meta))
            hand_over(f, row, &r.meta, &r.samples);
    if (!ok)
        f->failed = !error_wrap(f->err, "%s", k->day->path);
    block_reader_release(&r);
    dict_release(&d);
    return ok;
}

/* Type and labels of the series, into the finder's buffer. */
static bool read_series(struct day_find *k, struct scan_row *row,
                        struct buf *texts)
{
    sqlite3_stmt *st = day_statement(k->c, DAY_SERVICE_OF, k->f->err);
    size_t service, type;
    bool more, ok;

    if (!st)
        return false;
    sqlite3_bind_int64(st, 1, k->series);
    ok = db_step(k->c->db, st, &more, "read", k->f->err) && more;
    if (ok) {
        struct str columns[3] = {db_column_str(st, 0), db_column_str(st, 1),
                                 db_column_str(st, 2)};

        buf_clear(texts);
        for (int i = 0; i < 3; i++)
            buf_add(texts, columns[i]);
        service = columns[0].n;
        type = columns[1].n;
        ok = buf_ok(texts);
        row->service = str_of(texts->data, service);
        row->type = str_of(texts->data + service, type);
        row->labels = str_skip(buf_str(texts), service + type);
    }
    sqlite3_reset(st);
    return ok;
}

static void search_blocks(struct day_find *k)
{
    sqlite3_stmt *st = day_statement(k->c, DAY_BLOCKS, k->f->err);
    struct scan_row row = {0};
    bool more, ok = st && read_series(k, &row, &k->f->labels);

    if (ok) {
        sqlite3_bind_int64(st, 1, k->series);
        sqlite3_bind_int64(st, 2, k->t * 1000000000);
        sqlite3_bind_int64(st, 3, k->t * 1000000000 + 999999999);
        sqlite3_bind_int64(st, 4, STORE_RAW);
    }
    while (ok && !k->f->found && !k->f->failed &&
           (ok = db_step(k->c->db, st, &more, "read", k->f->err)) && more)
        ok = read_block(k, sqlite3_column_int64(st, 0),
                        sqlite3_column_int64(st, 1), &row);
    if (st)
        sqlite3_reset(st);
    k->f->failed |= !ok;
}

static void find_in_day(struct finder *f, struct day *day)
{
    struct day_find k = {.f = f, .day = day};
    sqlite3_stmt *st;
    struct error ignored;
    bool more, ok;

    k.c = day_connect(f->s, day, f->err);
    st = k.c ? day_statement(k.c, DAY_ID, f->err) : NULL;
    ok = st && db_exec(k.c->db, "BEGIN", f->err);
    if (ok) {
        sqlite3_bind_int64(st, 1, id_key(f->id));
        while (!f->found && !f->failed &&
               (ok = db_step(k.c->db, st, &more, "read", f->err)) && more) {
            k.series = sqlite3_column_int64(st, 0);
            k.t = sqlite3_column_int64(st, 1);
            search_blocks(&k);
        }
        sqlite3_reset(st);
        db_exec(k.c->db, "COMMIT", &ignored);
    }
    if (k.c)
        day_disconnect(f->s, day, k.c);
    f->failed |= !ok;
}

/* Most profiles are stored on the day that is in their id: look there first,
 * then everywhere. */
static bool find_in_days(struct finder *f, struct error *err)
{
    const unsigned char *b = f->id->bytes;
    int64_t made =
        ((int64_t)b[0] << 24 | b[1] << 16 | b[2] << 8 | b[3]) / 86400;
    struct day **files;
    size_t n;

    if (!days_between(f->s, STORE_RAW, INT64_MIN, INT64_MAX, &files, &n))
        return error_set(err, "out of memory");
    for (int near = 1; near >= 0; near--)
        for (size_t i = 0; i < n && !f->found && !f->failed; i++)
            if ((files[i]->number >= made - 1 &&
                 files[i]->number <= made + 1) == (near == 1))
                find_in_day(f, files[i]);
    for (size_t i = 0; i < n; i++)
        day_put(f->s, files[i]);
    free(files);
    return true;
}

enum store_status find_id(struct store *store, const struct store_id *id,
                          scan_each_row *row, void *arg, struct error *err)
{
    struct sqlite_store *s = engine_of(store);
    struct finder f = {.s = s, .id = id, .row = row, .arg = arg, .err = err};
    char text[STORE_ID_TEXT + 1];
    bool ok = true;

    f.labels = BUF_INIT(STORE_BUF_BYTES);
    service_each(s, find_in_service, &f);
    if (!f.found && !f.failed)
        ok = find_in_days(&f, err);
    buf_release(&f.labels);
    if (!ok || f.failed)
        return STORE_FAILED;
    if (f.found)
        return STORE_OK;
    store_id_format(id, text);
    error_set(err, "no profile with id %s", text);
    return STORE_NOT_FOUND;
}

/*
 * The bytes of opaque profiles.
 */

bool head_blob(struct sqlite_store *s, const struct store_id *id,
               struct buf *out, struct error *err)
{
    sqlite3_stmt *st;
    bool more, ok;

    pthread_mutex_lock(&s->head_lock);
    st = db_prepare(s->head, "SELECT b FROM blob WHERE id=?", err);
    ok = st != NULL;
    if (ok) {
        db_bind_str(st, 1, str_of((const char *)id->bytes, STORE_ID_BYTES));
        ok = db_step(s->head, st, &more, "read", err);
        if (ok && !more)
            ok = error_set(err, "head.db: the bytes of a profile are missing");
        if (ok)
            buf_add(out, db_column_str(st, 0));
    }
    sqlite3_finalize(st);
    pthread_mutex_unlock(&s->head_lock);
    return ok && (buf_ok(out) || error_set(err, "out of memory"));
}

static bool day_blob(struct sqlite_store *s, struct day *day,
                     const struct store_id *id, struct buf *out, bool *found,
                     struct error *err)
{
    struct day_conn *c = day_connect(s, day, err);
    sqlite3_stmt *st = c ? day_statement(c, DAY_BLOB, err) : NULL;
    bool ok = st != NULL;

    if (ok) {
        db_bind_str(st, 1, str_of((const char *)id->bytes, STORE_ID_BYTES));
        ok = db_step(c->db, st, found, "read", err);
        if (ok && *found)
            buf_add(out, db_column_str(st, 0));
        sqlite3_reset(st);
    }
    if (c)
        day_disconnect(s, day, c);
    return ok;
}

enum store_status find_blob(struct store *store, const struct store_id *id,
                            int64_t created_ns, struct buf *out,
                            struct error *err)
{
    struct sqlite_store *s = engine_of(store);
    struct buf packed = BUF_INIT(STORE_BUF_BYTES);
    struct day *day =
        day_get(s, day_number(s, created_ns), STORE_RAW, false, err);
    bool found = false, ok = true;

    if (day) {
        ok = day_blob(s, day, id, &packed, &found, err);
        day_put(s, day);
    }
    if (ok && !found)
        ok = head_blob(s, id, &packed, err);
    ok = ok && unsqueeze(buf_str(&packed), BLOB_LIMIT, out, err);
    buf_release(&packed);
    return ok ? STORE_OK : STORE_FAILED;
}
