/*
 * The rows of one service in one day file: its series that belong to the
 * selection, their blocks in the range, the rows of those.
 *
 * A reader that only counts needs the index of blocks and no block, except
 * for those that the ends of the range cut through.
 */
#include <stdlib.h>

#include "store/build.h"
#include "store/grow.h"
#include "store/segment.h"
#include "store/sqlite/scan_parts.h"

static bool keep_series(struct day_scan *k, sqlite3_stmt *st, struct error *err)
{
    struct scan *c = k->c;
    struct str type = db_column_str(st, 1), labels = db_column_str(st, 2);
    struct found_series *x;
    size_t n;

    if (!series_labels(labels, &c->labels, &c->labels_cap, &n))
        return error_set(err, "series: stored data are damaged");
    if (!query_matches(c->q, k->service, type, c->labels, n))
        return true;
    if (!grow(&k->series, &k->series_cap, k->n_series + 1))
        return error_set(err, "out of memory");
    x = &k->series[k->n_series++];
    *x = (struct found_series){.id = sqlite3_column_int64(st, 0)};
    x->type_at = k->text.len;
    x->type.n = type.n;
    buf_add(&k->text, type);
    x->labels_at = k->text.len;
    x->labels.n = labels.n;
    buf_add(&k->text, labels);
    return buf_ok(&k->text) || error_set(err, "out of memory");
}

/* The texts move while the buffer grows. */
static void fix_texts(struct day_scan *k)
{
    for (size_t i = 0; i < k->n_series; i++) {
        k->series[i].type.s = k->text.data + k->series[i].type_at;
        k->series[i].labels.s = k->text.data + k->series[i].labels_at;
    }
}

static bool find_series(struct day_scan *k, struct error *err)
{
    sqlite3 *db = k->conn->db;
    sqlite3_stmt *st = day_statement(k->conn, DAY_SERVICE, err);
    bool more = false, ok;
    int64_t service;

    if (!st || !db_exec(db, "BEGIN", err))
        return false;
    db_bind_str(st, 1, k->service);
    ok = db_step(db, st, &more, "read", err);
    service = ok && more ? sqlite3_column_int64(st, 0) : 0;
    sqlite3_reset(st);
    if (!ok || !more)
        return ok;
    st = day_statement(k->conn, DAY_SERIES, err);
    if (!st)
        return false;
    sqlite3_bind_int64(st, 1, service);
    while ((ok = db_step(db, st, &more, "read", err)) && more)
        if (!(ok = keep_series(k, st, err)))
            break;
    sqlite3_reset(st);
    fix_texts(k);
    return ok;
}

/* Returns true if the block is inside the range, so that its profiles can be
 * counted without reading it. */
static bool is_counted(struct day_scan *k, size_t series, sqlite3_stmt *st)
{
    struct scan_count n = {(uint64_t)sqlite3_column_int64(st, 2),
                           sqlite3_column_int64(st, 3),
                           sqlite3_column_int64(st, 4)};

    if (!k->c->count || n.first_ns < k->from_ns || n.last_ns > k->to_ns)
        return false;
    scan_add_count(&k->series[series].counted, &n);
    return true;
}

static bool add_block(struct day_scan *k, size_t series, sqlite3_stmt *st,
                      struct error *err)
{
    if (is_counted(k, series, st))
        return scan_check(k->c, err);
    if (!grow(&k->blocks, &k->blocks_cap, k->n_blocks + 1))
        return error_set(err, "out of memory");
    k->blocks[k->n_blocks++] = (struct found_block){
        sqlite3_column_int64(st, 0), sqlite3_column_int64(st, 1), series};
    return true;
}

static bool has_level(struct day_scan *k, size_t series, int level, bool *out,
                      struct error *err)
{
    sqlite3_stmt *st = day_statement(k->conn, DAY_ANY_BLOCK, err);
    bool ok = st != NULL;

    if (ok) {
        sqlite3_bind_int64(st, 1, k->series[series].id);
        sqlite3_bind_int64(st, 2, level);
        ok = db_step(k->conn->db, st, out, "read", err);
        sqlite3_reset(st);
    }
    return ok;
}

/* Which blocks of a series stand for its profiles: those themselves, or when
 * they have expired, others' not being, the finest sums that are left. */
static bool level_of(struct day_scan *k, size_t series, int *level,
                     struct error *err)
{
    bool has = true, ok = true;

    *level = k->day->level;
    if (*level != STORE_RAW || !k->c->use_sums)
        return true;
    for (int i = STORE_RAW; i < STORE_LEVELS; i++) {
        if (i != STORE_RAW && !level_fits(k->c, i))
            continue;
        ok = has_level(k, series, i, &has, err);
        if (!ok || has) {
            *level = i;
            return ok;
        }
    }
    return true;
}

static bool find_blocks(struct day_scan *k, struct error *err)
{
    sqlite3 *db = k->conn->db;
    sqlite3_stmt *st = day_statement(k->conn, DAY_BLOCKS, err);
    bool more, ok = st != NULL;
    int level;

    for (size_t i = 0; ok && i < k->n_series; i++) {
        ok = level_of(k, i, &level, err);
        if (!ok)
            break;
        sqlite3_bind_int64(st, 1, k->series[i].id);
        sqlite3_bind_int64(st, 2, k->from_ns);
        sqlite3_bind_int64(st, 3, k->to_ns);
        sqlite3_bind_int64(st, 4, level);
        while ((ok = db_step(db, st, &more, "read", err)) && more)
            if (!(ok = add_block(k, i, st, err)))
                break;
        sqlite3_reset(st);
    }
    return ok;
}

static int by_segment(const void *x, const void *y)
{
    const struct found_block *a = x, *b = y;

    if (a->segment != b->segment)
        return a->segment < b->segment ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

static bool load_dict(struct day_scan *k, int64_t segment, struct dict *d,
                      struct error *err)
{
    sqlite3_stmt *st = day_statement(k->conn, DAY_DICT, err);
    bool more, ok;

    if (!st)
        return false;
    sqlite3_bind_int64(st, 1, segment);
    ok = db_step(k->conn->db, st, &more, "read", err);
    if (ok && !more)
        ok = error_set(err, "segment %lld is missing", (long long)segment);
    ok = ok && (k->c->with_samples
                    ? segment_unpack(db_column_str(st, 0), d, err)
                    : segment_unpack_head(db_column_str(st, 0), d, err));
    sqlite3_reset(st);
    return ok || error_wrap(err, "%s", k->day->path);
}

/* What find_blocks() has counted. */
static bool hand_counts(struct day_scan *k, struct error *err)
{
    bool ok = true;

    for (size_t i = 0; ok && i < k->n_series; i++) {
        struct found_series *x = &k->series[i];
        struct scan_row row = {
            .service = k->service, .type = x->type, .labels = x->labels};

        ok = !x->counted.profiles ||
             k->c->count(k->c->arg, &row, &x->counted, err);
    }
    return ok;
}

static bool scan_rows(struct day_scan *k, const struct found_block *b,
                      const struct dict *d, struct block_reader *r,
                      struct error *err)
{
    struct scan *c = k->c;
    struct scan_row row = {.service = k->service, .d = d};
    bool more;

    row.type = k->series[b->series].type;
    row.labels = k->series[b->series].labels;
    while (block_next(r, &more, err)) {
        if (!more)
            return true;
        if (r->meta.created_ns >= k->from_ns &&
            r->meta.created_ns <= k->to_ns &&
            !scan_deliver(c, &row, &r->meta,
                          c->with_samples ? &r->samples : NULL,
                          r->has_before ? &r->before : NULL, err))
            return false;
    }
    return error_wrap(err, "%s", k->day->path);
}

static bool scan_block(struct day_scan *k, const struct found_block *b,
                       const struct dict *d, struct block_reader *r,
                       struct error *err)
{
    sqlite3_stmt *st = day_statement(k->conn, DAY_BLOCK, err);
    bool more, ok;

    if (!st)
        return false;
    sqlite3_bind_int64(st, 1, b->id);
    ok = db_step(k->conn->db, st, &more, "read", err);
    if (ok && !more)
        ok = error_set(err, "block %lld is missing", (long long)b->id);
    ok = ok && block_open(r, db_column_str(st, 0),
                          k->c->with_samples ? db_column_str(st, 1) : STR(""),
                          k->c->with_samples, d, err);
    sqlite3_reset(st);
    if (!ok)
        return error_wrap(err, "%s", k->day->path);
    return scan_rows(k, b, d, r, err);
}

static bool scan_blocks(struct day_scan *k, struct error *err)
{
    struct block_reader r = {0};
    struct dict d = {0};
    bool ok = true;

    if (k->n_blocks)
        qsort(k->blocks, k->n_blocks, sizeof(*k->blocks), by_segment);
    for (size_t i = 0; ok && i < k->n_blocks; i++) {
        if (i == 0 || k->blocks[i].segment != k->blocks[i - 1].segment) {
            ok = i == 0 || scan_end_segment(k->c, &d, err);
            dict_release(&d);
            ok = ok && load_dict(k, k->blocks[i].segment, &d, err) &&
                 scan_begin_segment(k->c, &d, err);
        }
        ok = ok && scan_block(k, &k->blocks[i], &d, &r, err);
    }
    ok = ok && (!k->n_blocks || scan_end_segment(k->c, &d, err));
    block_reader_release(&r);
    dict_release(&d);
    return ok;
}

bool day_scan_begin(struct day_scan *k, struct error *err)
{
    k->conn = day_connect(engine_of(k->c->s), k->day, err);
    return k->conn && find_series(k, err);
}

bool day_scan_run(struct day_scan *k, struct error *err)
{
    return find_blocks(k, err) && hand_counts(k, err) && scan_blocks(k, err);
}

void day_scan_release(struct day_scan *k)
{
    struct error ignored;

    if (k->conn) {
        if (!sqlite3_get_autocommit(k->conn->db))
            db_exec(k->conn->db, "COMMIT", &ignored);
        day_disconnect(engine_of(k->c->s), k->day, k->conn);
    }
    day_put(engine_of(k->c->s), k->day);
    buf_release(&k->text);
    free(k->series);
    free(k->blocks);
}
