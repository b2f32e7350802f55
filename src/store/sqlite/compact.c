/*
 * Joining the small segments of a service and day: one dictionary instead of
 * many, fuller blocks, and fewer of both for a query to open.
 *
 * During the day segments are joined with those of about the same size, so
 * that a profile is rewritten a few times and not with every seal; when the
 * day is over, all of a service become one, within a bound.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "store/build.h"
#include "store/grow.h"
#include "store/pack.h"
#include "store/segment.h"
#include "store/sqlite/engine.h"

enum {
    COMPACT_LEVEL = 9,       /* zstd's */
    MOST_SAMPLES = 16 << 20, /* of a joined segment */
    MOST_PROFILES = 50000,
};

struct candidate {
    int64_t id, profiles;
    int64_t summed; /* those of one segment are complete, or not there */
    unsigned tier;
};

struct compaction {
    struct sqlite_store *s;
    struct day *day;
    struct day_conn *c;
    bool over; /* the day is */
    uint32_t threshold;
    int64_t service;
    struct candidate *v;
    size_t n, cap;
};

static unsigned tier_of(int64_t profiles)
{
    unsigned tier = 0;

    for (; profiles >= 8; profiles /= 8)
        tier++;
    return tier;
}

static int by_tier(const void *x, const void *y)
{
    const struct candidate *a = x, *b = y;

    if (a->summed != b->summed)
        return a->summed < b->summed ? -1 : 1;
    if (a->tier != b->tier)
        return a->tier < b->tier ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

/* Leaves those that shall be joined now; none if there are too few. */
static void choose(struct compaction *k)
{
    size_t start = 0, end = 0;
    int64_t profiles = 0;

    if (k->n)
        qsort(k->v, k->n, sizeof(*k->v), by_tier);
    for (; start < k->n; start = end) {
        for (end = start, profiles = 0; end < k->n; end++) {
            if (k->v[end].summed != k->v[start].summed ||
                (!k->over && k->v[end].tier != k->v[start].tier) ||
                profiles + k->v[end].profiles > MOST_PROFILES)
                break;
            profiles += k->v[end].profiles;
        }
        if (end - start >= k->threshold)
            break;
        end += end == start; /* one that is full already */
    }
    if (start >= k->n) {
        k->n = 0;
        return;
    }
    memmove(k->v, k->v + start, (end - start) * sizeof(*k->v));
    k->n = end - start;
}

static bool load_candidates(struct compaction *k, struct error *err)
{
    sqlite3_stmt *st = db_prepare(
        k->c->db, "SELECT id, profiles, summed FROM segment WHERE service=?",
        err);
    bool more, ok = st != NULL;

    k->n = 0;
    if (ok)
        sqlite3_bind_int64(st, 1, k->service);
    while (ok && (ok = db_step(k->c->db, st, &more, "read", err)) && more) {
        int64_t profiles = sqlite3_column_int64(st, 1);

        ok = grow(&k->v, &k->cap, k->n + 1) || error_set(err, "out of memory");
        if (ok)
            k->v[k->n++] = (struct candidate){
                sqlite3_column_int64(st, 0), profiles,
                sqlite3_column_int64(st, 2), tier_of(profiles)};
    }
    sqlite3_finalize(st);
    return ok;
}

/* A service of the file that has enough segments to join. */
static bool find_service(struct compaction *k, struct error *err)
{
    sqlite3_stmt *st =
        db_prepare(k->c->db,
                   "SELECT service FROM segment GROUP BY service HAVING "
                   "count(*)>=?",
                   err);
    bool more, ok = st != NULL;

    if (ok)
        sqlite3_bind_int64(st, 1, k->threshold);
    while (ok && (ok = db_step(k->c->db, st, &more, "read", err)) && more) {
        k->service = sqlite3_column_int64(st, 0);
        ok = load_candidates(k, err);
        if (ok)
            choose(k);
        if (k->n)
            break;
    }
    sqlite3_finalize(st);
    return ok;
}

/*
 * Joining.
 */

static bool add_block(struct builder *b, struct dict_import *m,
                      struct block_reader *r, struct error *err)
{
    bool more, first = true;

    while (block_next(r, &more, err)) {
        if (!more)
            return true;
        if (!builder_add(b, m, &r->meta, &r->samples,
                         first && r->has_before ? &r->before : NULL))
            return error_set(err, "out of memory");
        first = false;
    }
    return false;
}

static bool add_blocks(struct compaction *k, int64_t segment, struct builder *b,
                       const struct dict *d, struct error *err)
{
    sqlite3_stmt *st = db_prepare(
        k->c->db, "SELECT meta, samples, level FROM block WHERE segment=?",
        err);
    struct block_reader r = {0};
    struct dict_import m;
    bool more, ok = st != NULL;

    if (!dict_import_init(&m, d, &b->d)) {
        sqlite3_finalize(st);
        return error_set(err, "out of memory");
    }
    if (ok)
        sqlite3_bind_int64(st, 1, segment);
    while (ok && (ok = db_step(k->c->db, st, &more, "read", err)) && more) {
        b->kind = (unsigned)sqlite3_column_int(st, 2);
        ok = block_open(&r, db_column_str(st, 0), db_column_str(st, 1), true, d,
                        err) &&
             add_block(b, &m, &r, err);
    }
    sqlite3_finalize(st);
    block_reader_release(&r);
    dict_import_release(&m);
    return ok;
}

static bool add_segment(struct compaction *k, int64_t segment,
                        struct builder *b, struct error *err)
{
    sqlite3_stmt *st = day_statement(k->c, DAY_DICT, err);
    struct dict d = {0};
    bool more, ok = st != NULL;

    if (ok) {
        sqlite3_bind_int64(st, 1, segment);
        ok = db_step(k->c->db, st, &more, "read", err) && more &&
             segment_unpack(db_column_str(st, 0), &d, err);
        sqlite3_reset(st);
    }
    ok = ok && add_blocks(k, segment, b, &d, err);
    dict_release(&d);
    return ok;
}

static bool delete_segment(sqlite3 *db, int64_t segment, struct error *err)
{
    static const char *const sql[] = {"DELETE FROM block WHERE segment=?",
                                      "DELETE FROM segment WHERE id=?"};
    bool ok = true;

    for (int i = 0; ok && i < 2; i++) {
        sqlite3_stmt *st = db_prepare(db, sql[i], err);

        ok = st != NULL;
        if (ok) {
            sqlite3_bind_int64(st, 1, segment);
            ok = db_run(db, st, "write", err);
        }
        sqlite3_finalize(st);
    }
    return ok;
}

static bool service_name(sqlite3 *db, int64_t service, struct buf *out,
                         struct error *err)
{
    sqlite3_stmt *st =
        db_prepare(db, "SELECT name FROM service WHERE id=?", err);
    bool more, ok = st != NULL;

    if (ok) {
        sqlite3_bind_int64(st, 1, service);
        ok = db_step(db, st, &more, "read", err) && more;
        if (ok)
            buf_add(out, db_column_str(st, 0));
    }
    sqlite3_finalize(st);
    return ok && (buf_ok(out) || error_set(err, "out of memory"));
}

/* The new segment has the sums of the old ones. */
static bool keep_summed(sqlite3 *db, int64_t segment, int64_t summed,
                        struct error *err)
{
    sqlite3_stmt *st =
        db_prepare(db, "UPDATE segment SET summed=? WHERE id=?", err);
    bool ok = st != NULL;

    if (ok) {
        sqlite3_bind_int64(st, 1, summed);
        sqlite3_bind_int64(st, 2, segment);
        ok = db_run(db, st, "write", err);
    }
    sqlite3_finalize(st);
    return ok;
}

static bool replace(struct compaction *k, struct builder *b, size_t n,
                    struct error *err)
{
    struct segment_writer w = {.s = k->s, .db = k->c->db};
    struct buf name = BUF_INIT(STORE_BUF_BYTES);
    struct error ignored;
    bool ok = service_name(k->c->db, k->service, &name, err) &&
              db_exec(k->c->db, "BEGIN IMMEDIATE", err);

    if (ok) {
        ok = segment_write(&w, b, buf_str(&name), COMPACT_LEVEL, err) &&
             keep_summed(k->c->db, w.segment, k->v[0].summed, err);
        segment_writer_release(&w);
        for (size_t i = 0; ok && i < n; i++)
            ok = delete_segment(k->c->db, k->v[i].id, err);
        ok = ok && db_exec(k->c->db, "COMMIT", err);
        if (!ok)
            db_exec(k->c->db, "ROLLBACK", &ignored);
    }
    buf_release(&name);
    return ok;
}

static bool join(struct compaction *k, struct error *err)
{
    struct builder b;
    size_t n = 0;
    bool ok = builder_init(&b);

    if (!ok)
        return error_set(err, "out of memory");
    for (; ok && n < k->n && b.samples < MOST_SAMPLES; n++)
        ok = add_segment(k, k->v[n].id, &b, err);
    ok = ok && (n < 2 || replace(k, &b, n, err));
    builder_release(&b);
    return ok;
}

static bool compact_day(struct compaction *k, bool *did, struct error *err)
{
    bool ok;

    k->c = day_connect(k->s, k->day, err);
    if (!k->c)
        return false;
    ok = find_service(k, err);
    *did = ok && k->n >= 2;
    if (*did)
        ok = join(k, err);
    else if (ok)
        k->day->compacted = k->threshold;
    if (*did)
        day_shrink(k->c);
    day_disconnect(k->s, k->day, k->c);
    return ok;
}

bool compact_step(struct sqlite_store *s, bool *did, struct error *err)
{
    int32_t today = (int32_t)(engine_now(s) / DAY);
    struct day **files;
    size_t n;
    bool ok = true;

    if (!days_between(s, STORE_RAW, INT64_MIN, INT64_MAX, &files, &n))
        return error_set(err, "out of memory");
    for (size_t i = 0; i < n; i++) {
        struct compaction k = {.s = s, .day = files[i]};

        k.over = files[i]->number < today;
        k.threshold = k.over ? 2 : s->opt.compact_segments;
        if (ok && !*did && files[i]->compacted != k.threshold) {
            ok = compact_day(&k, did, err) ||
                 error_wrap(err, "join segments of %s", files[i]->path);
            if (*did) {
                pthread_mutex_lock(&s->stats_lock);
                s->stats.compactions++;
                pthread_mutex_unlock(&s->stats_lock);
            }
        }
        free(k.v);
        day_put(s, files[i]);
    }
    free(files);
    return ok;
}
