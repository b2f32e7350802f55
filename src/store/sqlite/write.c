/*
 * A built segment into a day file: texts of its series, its dictionary, its
 * blocks, and where to find each id.
 */
#include <stdlib.h>

#include "store/build.h"
#include "store/pack.h"
#include "store/sqlite/engine.h"

struct writing {
    struct segment_writer *w;
    sqlite3_stmt *block, *id;
};

static bool add_series(struct segment_writer *w, const struct dict *d,
                       struct error *err)
{
    struct buf labels = BUF_INIT(STORE_BUF_BYTES);
    struct str type;
    bool ok = true;

    w->n_series = d->tables[DICT_SERIES].n;
    w->series = calloc(w->n_series + 1, sizeof(*w->series));
    if (!w->series)
        return error_set(err, "out of memory");
    for (uint32_t i = 0; ok && i < w->n_series; i++) {
        ok = series_text(d, i, &type, &labels) ||
             error_set(err, "out of memory");
        ok = ok && day_add_series(w->db, w->service, type, buf_str(&labels),
                                  &w->series[i], err);
    }
    buf_release(&labels);
    return ok;
}

static bool write_dict(void *arg, struct str packed, const struct dict *d,
                       struct error *err)
{
    struct segment_writer *w = ((struct writing *)arg)->w;
    sqlite3_stmt *st;
    bool ok;

    if (!add_series(w, d, err))
        return false;
    st = db_prepare(w->db,
                    "INSERT INTO segment(service, t0, t1, profiles, nodes, "
                    "names, bytes, dict) VALUES(?,0,0,0,?,?,?,?)",
                    err);
    if (!st)
        return false;
    sqlite3_bind_int64(st, 1, w->service);
    sqlite3_bind_int64(st, 2, (int64_t)d->n_nodes);
    sqlite3_bind_int64(st, 3, (int64_t)d->tables[DICT_STRING].n);
    sqlite3_bind_int64(st, 4, (int64_t)packed.n);
    db_bind_str(st, 5, packed);
    ok = db_run(w->db, st, "write", err);
    sqlite3_finalize(st);
    w->segment = sqlite3_last_insert_rowid(w->db);
    return ok;
}

static bool write_ids(struct writing *k, const struct built_block *b,
                      int64_t series, struct error *err)
{
    for (size_t i = 0; i < b->n; i++) {
        sqlite3_bind_int64(k->id, 1, id_key(&b->ids[i]));
        sqlite3_bind_int64(k->id, 2, series);
        sqlite3_bind_int64(k->id, 3, b->times[i] / 1000000000);
        if (!db_run(k->w->db, k->id, "write", err))
            return false;
    }
    return true;
}

static bool write_block(void *arg, const struct built_block *b,
                        struct error *err)
{
    struct writing *k = arg;
    struct segment_writer *w = k->w;
    int64_t series = w->series[b->series];

    sqlite3_bind_int64(k->block, 1, series);
    sqlite3_bind_int64(k->block, 2, w->segment);
    sqlite3_bind_int64(k->block, 3, b->t0_ns);
    sqlite3_bind_int64(k->block, 4, b->t1_ns);
    sqlite3_bind_int64(k->block, 5, (int64_t)b->profiles);
    sqlite3_bind_int64(k->block, 6, (int64_t)b->posted_bytes);
    sqlite3_bind_int64(k->block, 7, (int64_t)(b->meta.n + b->samples.n));
    db_bind_str(k->block, 8, b->meta);
    db_bind_str(k->block, 9, b->samples);
    sqlite3_bind_int64(k->block, 10, b->kind);
    if (!db_run(w->db, k->block, "write", err))
        return false;
    w->t0_ns = b->t0_ns < w->t0_ns ? b->t0_ns : w->t0_ns;
    w->t1_ns = b->t1_ns > w->t1_ns ? b->t1_ns : w->t1_ns;
    if (b->kind == STORE_RAW)
        w->profiles += b->profiles;
    return !w->with_ids || write_ids(k, b, series, err);
}

static bool write_range(struct segment_writer *w, struct error *err)
{
    sqlite3_stmt *st = db_prepare(
        w->db, "UPDATE segment SET t0=?, t1=?, profiles=? WHERE id=?", err);
    bool ok;

    if (!st)
        return false;
    sqlite3_bind_int64(st, 1, w->t0_ns);
    sqlite3_bind_int64(st, 2, w->t1_ns);
    sqlite3_bind_int64(st, 3, (int64_t)w->profiles);
    sqlite3_bind_int64(st, 4, w->segment);
    ok = db_run(w->db, st, "write", err);
    sqlite3_finalize(st);
    return ok;
}

static bool begin(struct writing *k, struct error *err)
{
    struct segment_writer *w = k->w;

    w->t0_ns = INT64_MAX;
    w->t1_ns = INT64_MIN;
    k->block = db_prepare(w->db,
                          "INSERT INTO block(series, segment, t0, t1, n, "
                          "posted, bytes, meta, samples, level) "
                          "VALUES(?,?,?,?,?,?,?,?,?,?)",
                          err);
    k->id = db_prepare(w->db, "INSERT OR IGNORE INTO id VALUES(?,?,?)", err);
    return k->block && k->id;
}

static void end(struct writing *k)
{
    sqlite3_finalize(k->block);
    sqlite3_finalize(k->id);
}

bool segment_write(struct segment_writer *w, struct builder *b,
                   struct str service, int level, struct error *err)
{
    struct writing k = {.w = w};
    bool ok = begin(&k, err) &&
              day_add_service(w->db, service, &w->service, err) &&
              builder_finish(b, level, write_dict, write_block, &k, err) &&
              write_range(w, err);

    end(&k);
    return ok;
}

bool segment_write_more(struct segment_writer *w, struct builder *b, int level,
                        struct error *err)
{
    struct writing k = {.w = w};
    bool ok = begin(&k, err) && add_series(w, &b->d, err) &&
              builder_finish_blocks(b, level, write_block, &k, err);

    end(&k);
    return ok;
}

void segment_writer_release(struct segment_writer *w)
{
    free(w->series);
    w->series = NULL;
}
