/*
 * One profile, by its id.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory_scope.h"
#include "profile/encode.h"
#include "store/build.h"
#include "store/grow.h"
#include "store/header.h"
#include "store/pack.h"
#include "store/rebuild.h"
#include "store/segment.h"
#include "store/sqlite/read.h"

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

enum store_status find_id(struct sqlite_store *s, const struct store_id *id,
                          bool (*row)(void *arg, const struct scan_row *row,
                                      struct error *err),
                          void *arg, struct error *err)
{
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
 * The operations.
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

/* The bytes of an opaque profile, wherever they are. */
static enum store_status get_blob(struct sqlite_store *s,
                                  const struct store_id *id, int64_t created_ns,
                                  struct buf *out, struct error *err)
{
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

struct got {
    struct profile *p;
    bool is_opaque;
    int64_t created_ns;
};

static bool take(void *arg, const struct scan_row *row, struct error *err)
{
    struct got *got = arg;

    got->created_ns = row->meta->created_ns;
    got->is_opaque = row->meta->flags & ROW_OPAQUE;
    if (got->is_opaque)
        return true;
    got->p = rebuild_profile(row->d, row->meta, row->samples, err);
    return got->p != NULL;
}

enum store_status engine_get(struct store *s, const struct store_id *id,
                             struct profile **out, struct error *err)
{
    struct got got = {0};
    enum store_status status = find_id(engine_of(s), id, take, &got, err);

    if (status == STORE_OK && got.is_opaque) {
        error_set(err, "the profile is kept as opaque bytes");
        return STORE_INVALID;
    }
    if (status == STORE_OK)
        *out = got.p;
    return status;
}

struct encoding {
    struct profile *p;
    struct buf *out;
    struct error *err;
    bool ok;
};

static void run_encode(void *arg)
{
    struct encoding *e = arg;

    e->ok = profile_encode_gzip(e->p, e->out, e->err);
}

/* In a scope of its own: the service may be locked. */
static enum store_status encode(struct profile *p, struct buf *out,
                                struct error *err)
{
    struct encoding e = {.p = p, .out = out, .err = err};
    bool ok = memory_scope_run(MEMORY_UNLIMITED, run_encode, &e, err) && e.ok;

    profile_free(p);
    return ok ? STORE_OK : STORE_FAILED;
}

enum store_status engine_get_bytes(struct store *s, const struct store_id *id,
                                   struct buf *out, struct error *err)
{
    struct got got = {0};
    enum store_status status = find_id(engine_of(s), id, take, &got, err);

    if (status != STORE_OK)
        return status;
    if (got.is_opaque)
        return get_blob(engine_of(s), id, got.created_ns, out, err);
    return encode(got.p, out, err);
}

bool describe_row(struct description *d, const struct scan_row *row)
{
    const struct row_meta *m = row->meta;
    struct store_profile *p = &d->p;

    *p = (struct store_profile){
        .id = m->id,
        .service = row->service,
        .type = row->type,
        .created_at_ns = m->created_ns,
        .duration_ns = m->duration_ns,
        .posted_bytes = m->posted_bytes,
        .samples = m->samples,
        .n_totals = m->n_totals,
        .is_opaque = m->flags & ROW_OPAQUE,
    };
    if (!series_labels(row->labels, &d->labels, &d->labels_cap, &p->n_labels) ||
        !grow(&d->totals, &d->totals_cap, m->n_totals))
        return false;
    for (size_t i = 0; i < m->n_totals; i++) {
        bool cumulative = i < 64 && row->cumulative >> i & 1;
        struct store_total *t = &d->totals[i];

        if (!dict_header_type(row->d, m->header, i, &t->type, &t->unit))
            return false;
        t->sum = t->change = m->totals[i];
        if (cumulative)
            t->change = m->flags & ROW_CHANGES ? m->changes[i] : 0;
    }
    p->labels = d->labels;
    p->totals = d->totals;
    return true;
}

void description_release(struct description *d)
{
    free(d->labels);
    free(d->totals);
}

struct describing {
    store_each_profile *each;
    void *arg;
    struct description d;
};

static bool describe_one(void *arg, const struct scan_row *row,
                         struct error *err)
{
    struct describing *k = arg;

    if (!describe_row(&k->d, row))
        return error_set(err, "out of memory");
    k->each(k->arg, &k->d.p);
    return true;
}

enum store_status engine_describe(struct store *s, const struct store_id *id,
                                  store_each_profile *each, void *arg,
                                  struct error *err)
{
    struct describing k = {.each = each, .arg = arg};
    enum store_status status = find_id(engine_of(s), id, describe_one, &k, err);

    description_release(&k.d);
    return status;
}

/*
 * Export.
 */

struct exporting {
    struct sqlite_store *s;
    store_each_export *each;
    void *arg;
    struct description d;
    struct buf bytes;
    bool stopped;
};

static bool export_row(void *arg, const struct scan_row *row, struct error *err)
{
    struct exporting *k = arg;
    const struct row_meta *m = row->meta;
    struct profile *p;

    buf_clear(&k->bytes);
    if (!describe_row(&k->d, row))
        return error_set(err, "out of memory");
    if (m->flags & ROW_OPAQUE) {
        if (get_blob(k->s, &m->id, m->created_ns, &k->bytes, err) != STORE_OK)
            return false;
    } else {
        p = rebuild_profile(row->d, m, row->samples, err);
        if (!p)
            return false;
        if (encode(p, &k->bytes, err) != STORE_OK)
            return false;
    }
    k->stopped = !k->each(k->arg, &k->d.p, buf_str(&k->bytes));
    return !k->stopped;
}

enum store_status engine_export(struct store *s, const struct store_query *q,
                                const struct store_budget *budget,
                                store_each_export *each, void *arg,
                                struct store_progress *progress,
                                struct error *err)
{
    struct exporting k = {.s = engine_of(s), .each = each, .arg = arg};
    struct scan c = {.s = engine_of(s),
                     .q = q,
                     .budget = budget,
                     .progress = progress,
                     .with_samples = true,
                     .row = export_row,
                     .arg = &k};
    enum store_status status;

    k.bytes = BUF_INIT(STORE_BUF_BYTES);
    status = scan_run(&c, err);
    buf_release(&k.bytes);
    description_release(&k.d);
    return k.stopped ? STORE_OK : status;
}
