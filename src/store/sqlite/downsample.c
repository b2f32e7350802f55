/*
 * Sums of a day that is over: a row for each series and minute, hour or day,
 * with the exact sums by stack and labels.  They answer long ranges with fewer
 * rows, and may be kept longer than the profiles.
 *
 * Sums are made segment by segment, as further blocks of it: they have the
 * stacks of its profiles, so its dictionary does for both.  A step whose
 * profiles are in two segments has two rows, which readers add up.  Profiles
 * that arrive later come in a segment of their own, which gets its own sums.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/i64.h"
#include "store/build.h"
#include "store/grow.h"
#include "store/header.h"
#include "store/pack.h"
#include "store/segment.h"
#include "store/sqlite/engine.h"
#include "store/sums.h"

enum { SUM_LEVEL = 9 }; /* zstd's */

#define GRACE_NS ((int64_t)600 * 1000000000) /* after midnight */

/* A sum under way: rows of one series, step and header. */
struct bucket {
    uint32_t next; /* another of the same, + 1 */
    struct sums sums;
    struct row_meta meta;
};

/* The sums of one level. */
struct summing {
    const struct dict *d;
    int64_t step_ns;
    struct table keys;
    uint32_t *first; /* bucket by key, + 1 */
    size_t first_cap;
    struct bucket *v;
    size_t n, cap;
    struct buf key;
};

static bool has_mapping(const struct dict *d, uint32_t image, uint32_t mapping)
{
    struct wire_reader r = unpack_begin(dict_get(d, DICT_IMAGE, image));
    uint64_t ignored;
    uint32_t id;

    while (wire_more(&r) && unpack_u32(&r, &id)) {
        if (id == mapping)
            return true;
        for (int i = 0; i < 3; i++)
            if (!wire_read_varint(&r, &ignored))
                return false;
    }
    return false;
}

/* Returns true if an image has all mappings of another. */
static bool covers(const struct dict *d, uint32_t image, uint32_t other)
{
    struct wire_reader r = unpack_begin(dict_get(d, DICT_IMAGE, other));
    uint64_t ignored;
    uint32_t id;

    if (image == other)
        return true;
    while (wire_more(&r)) {
        if (!unpack_u32(&r, &id) || !has_mapping(d, image, id))
            return false;
        for (int i = 0; i < 3; i++)
            if (!wire_read_varint(&r, &ignored))
                return false;
    }
    return true;
}

/* A sum has one image for all of its rows: that of a row which has the
 * mappings of all others.  Rows that do not fit begin another sum. */
static bool fits(const struct dict *d, struct bucket *b, uint32_t image)
{
    if (covers(d, b->meta.image, image))
        return true;
    if (!covers(d, image, b->meta.image))
        return false;
    b->meta.image = image;
    return true;
}

static struct bucket *add_bucket(struct summing *k, const struct row_meta *m,
                                 int64_t t, uint64_t cumulative)
{
    struct bucket *b;

    if (!grow(&k->v, &k->cap, k->n + 1))
        return NULL;
    b = &k->v[k->n++];
    *b = (struct bucket){.meta = {.id = m->id,
                                  .series = m->series,
                                  .header = m->header,
                                  .image = m->image,
                                  .created_ns = t,
                                  .time_ns = m->time_ns}};
    b->sums.columns = m->n_totals + (size_t)__builtin_popcountll(cumulative);
    return row_meta_totals(&b->meta, m->n_totals) ? b : NULL;
}

static struct bucket *bucket_for(struct summing *k, const struct row_meta *m,
                                 uint64_t cumulative)
{
    int64_t t = m->created_ns - m->created_ns % k->step_ns;
    size_t known = k->keys.n;
    struct bucket *b;
    uint32_t id;

    buf_clear(&k->key);
    buf_addf(&k->key, "%u %u %lld", m->series, m->header, (long long)t);
    if (!buf_ok(&k->key) || !table_intern(&k->keys, buf_str(&k->key), &id) ||
        !grow(&k->first, &k->first_cap, (size_t)id + 1))
        return NULL;
    if (id == known)
        k->first[id] = 0;
    for (uint32_t at = k->first[id]; at; at = k->v[at - 1].next)
        if (fits(k->d, &k->v[at - 1], m->image))
            return &k->v[at - 1];
    b = add_bucket(k, m, t, cumulative);
    if (b) {
        b->next = k->first[id];
        k->first[id] = (uint32_t)k->n;
    }
    return b;
}

static void add_meta(struct bucket *b, const struct row_meta *m,
                     uint64_t cumulative)
{
    struct row_meta *to = &b->meta;

    to->profiles += m->profiles;
    to->posted_bytes += m->posted_bytes;
    to->duration_ns = i64_add(to->duration_ns, m->duration_ns);
    if (to->period == 0 || to->period < m->period)
        to->period = m->period;
    if (row_is_older(m->time_ns, to->time_ns))
        to->time_ns = m->time_ns;
    for (size_t i = 0; i < m->n_totals; i++) {
        bool is = i < 64 && cumulative >> i & 1;
        int64_t change = is ? 0 : m->totals[i];

        if (is && m->flags & ROW_CHANGES)
            change = m->changes[i];
        to->totals[i] = i64_add(to->totals[i], m->totals[i]);
        to->changes[i] = i64_add(to->changes[i], change);
    }
}

/* Adds the values of one row, `sign` times: as sent into the first columns,
 * and changes of cumulative types behind them. */
static bool add_values(struct bucket *b, const struct row_samples *s,
                       uint64_t cumulative, bool as_sent, int64_t sign)
{
    for (size_t i = 0; i < s->n; i++) {
        const int64_t *v = s->values + i * s->columns;
        size_t extra = s->columns;
        int64_t *sum = sums_at(&b->sums, s->nodes[i], s->labels[i]);

        if (!sum)
            return false;
        for (size_t c = 0; c < s->columns; c++) {
            if (as_sent)
                sum[c] = i64_add(sum[c], v[c]);
            else if (c < 64 && cumulative >> c & 1) {
                sum[extra] = i64_add(sum[extra], i64_mul(v[c], sign));
                extra++;
            }
        }
    }
    return true;
}

static bool add_row(struct summing *k, const struct block_reader *r,
                    uint64_t cumulative)
{
    const struct row_meta *m = &r->meta;
    struct bucket *b = bucket_for(k, m, cumulative);
    bool ok = b && add_values(b, &r->samples, cumulative, true, 1);

    if (ok && cumulative && m->flags & ROW_CHANGES) {
        ok = add_values(b, &r->samples, cumulative, false, 1);
        if (ok && r->has_before && !(m->flags & ROW_RESTART))
            ok = add_values(b, &r->before, cumulative, false, -1);
    }
    if (ok)
        add_meta(b, m, cumulative);
    return ok;
}

/* The sum as a row of the builder. */
static bool end_bucket(struct builder *out, struct bucket *b)
{
    struct row_samples s = {0};
    struct row_meta *m = &b->meta;
    bool ok = row_samples_resize(&s, b->sums.n, b->sums.columns);

    for (size_t i = 0; ok && i < s.n; i++) {
        s.nodes[i] = b->sums.keys[i].node;
        s.labels[i] = b->sums.keys[i].labels;
    }
    if (ok && s.n)
        memcpy(s.values, b->sums.values, s.n * s.columns * sizeof(*s.values));
    m->samples = s.n;
    m->flags = ROW_SUM | ROW_CHANGES;
    m->extras = STR("");
    ok = ok && builder_add(out, NULL, m, &s, NULL);
    row_samples_release(&s);
    return ok;
}

/* For the next series. */
static void clear(struct summing *k)
{
    for (size_t i = 0; i < k->n; i++) {
        sums_release(&k->v[i].sums);
        row_meta_release(&k->v[i].meta);
    }
    k->n = 0;
    table_release(&k->keys);
}

/*
 * A segment, all missing levels at once.
 */
struct segment_sums {
    struct dict d;
    unsigned levels; /* bits */
    struct summing of[STORE_LEVELS];
    struct builder out;
};

static void segment_sums_init(struct segment_sums *k, unsigned levels)
{
    k->levels = levels;
    builder_borrow(&k->out, &k->d);
    for (int i = 0; i < STORE_LEVELS; i++) {
        k->of[i].d = &k->d;
        k->of[i].step_ns = level_ns[i];
        k->of[i].key = BUF_INIT(STORE_BUF_BYTES);
    }
}

static void segment_sums_release(struct segment_sums *k)
{
    for (int i = 0; i < STORE_LEVELS; i++) {
        clear(&k->of[i]);
        free(k->of[i].v);
        free(k->of[i].first);
        buf_release(&k->of[i].key);
    }
    builder_release(&k->out);
    dict_release(&k->d);
}

/* One series at a time is summed up, so that memory is bounded by its
 * distinct stacks and steps. */
static bool end_series(struct segment_sums *k, struct error *err)
{
    bool ok = true;

    for (int level = STORE_MINUTE; level < STORE_LEVELS; level++) {
        k->out.kind = (unsigned)level;
        for (size_t i = 0; ok && i < k->of[level].n; i++)
            ok = end_bucket(&k->out, &k->of[level].v[i]);
        clear(&k->of[level]);
    }
    return ok || error_set(err, "out of memory");
}

static bool add_block(struct segment_sums *k, struct block_reader *r,
                      struct error *err)
{
    uint64_t cumulative;
    bool more, ok = true;
    size_t types;

    while (ok && block_next(r, &more, err)) {
        if (!more)
            return true;
        if (r->meta.flags & ROW_OPAQUE)
            continue;
        ok = dict_header_types(&k->d, r->meta.header, &types, &cumulative);
        for (int level = STORE_MINUTE; ok && level < STORE_LEVELS; level++)
            if (k->levels & 1u << level)
                ok = add_row(&k->of[level], r, cumulative);
        if (!ok)
            error_set(err, "out of memory");
    }
    return false;
}

static bool add_blocks(struct segment_sums *k, sqlite3 *db, int64_t segment,
                       struct error *err)
{
    sqlite3_stmt *st = db_prepare(db,
                                  "SELECT meta, samples, series FROM block "
                                  "WHERE segment=? AND level=0 ORDER BY "
                                  "series, t0",
                                  err);
    struct block_reader r = {0};
    int64_t last = 0;
    bool more, ok = st != NULL;

    if (ok)
        sqlite3_bind_int64(st, 1, segment);
    while (ok && (ok = db_step(db, st, &more, "read", err)) && more) {
        if (sqlite3_column_int64(st, 2) != last)
            ok = end_series(k, err);
        last = sqlite3_column_int64(st, 2);
        ok = ok &&
             block_open(&r, db_column_str(st, 0), db_column_str(st, 1), true,
                        &k->d, err) &&
             add_block(k, &r, err);
    }
    sqlite3_finalize(st);
    block_reader_release(&r);
    return ok && end_series(k, err);
}

static bool load_dict(struct day_conn *c, int64_t segment, struct dict *d,
                      struct error *err)
{
    sqlite3_stmt *st = day_statement(c, DAY_DICT, err);
    bool more, ok = st != NULL;

    if (ok) {
        sqlite3_bind_int64(st, 1, segment);
        ok = db_step(c->db, st, &more, "read", err) && more &&
             segment_unpack(db_column_str(st, 0), d, err);
        sqlite3_reset(st);
    }
    return ok;
}

static bool note_summed(sqlite3 *db, int64_t segment, unsigned levels,
                        struct error *err)
{
    sqlite3_stmt *st =
        db_prepare(db, "UPDATE segment SET summed=summed|? WHERE id=?", err);
    bool ok = st != NULL;

    if (ok) {
        sqlite3_bind_int64(st, 1, levels);
        sqlite3_bind_int64(st, 2, segment);
        ok = db_run(db, st, "write", err);
    }
    sqlite3_finalize(st);
    return ok;
}

static bool write_sums(struct segment_writer *w, struct segment_sums *k,
                       struct error *err)
{
    struct error ignored;
    bool ok = db_exec(w->db, "BEGIN IMMEDIATE", err);

    if (!ok)
        return false;
    ok = segment_write_more(w, &k->out, SUM_LEVEL, err) &&
         note_summed(w->db, w->segment, k->levels, err) &&
         db_exec(w->db, "COMMIT", err);
    if (!ok)
        db_exec(w->db, "ROLLBACK", &ignored);
    segment_writer_release(w);
    return ok;
}

/* Readers find the sums from here on. */
static bool note_levels(struct sqlite_store *s, struct day *day,
                        const struct segment_sums *k,
                        const struct segment_writer *w, struct error *err)
{
    for (int level = STORE_MINUTE; level < STORE_LEVELS; level++) {
        struct day *to;

        if (!(k->levels & 1u << level) || w->t0_ns > w->t1_ns)
            continue;
        to = day_get(s, day->number, (enum store_level)level, true, err);
        if (!to)
            return false;
        day_note(s, to, w->t0_ns, w->t1_ns);
        day_put(s, to);
    }
    return true;
}

static bool sum_segment(struct sqlite_store *s, struct day *day,
                        struct day_conn *c, struct segment_writer *w,
                        unsigned levels, struct error *err)
{
    struct segment_sums k = {0};
    bool ok = load_dict(c, w->segment, &k.d, err);

    segment_sums_init(&k, levels);
    ok = ok && add_blocks(&k, c->db, w->segment, err) &&
         write_sums(w, &k, err) && note_levels(s, day, &k, w, err);
    segment_sums_release(&k);
    return ok;
}

/* A segment of the file without all sums. */
static bool find_missing(sqlite3 *db, unsigned levels, struct segment_writer *w,
                         unsigned *missing, bool *found, struct error *err)
{
    sqlite3_stmt *st = db_prepare(
        db, "SELECT id, service, summed FROM segment WHERE summed & ? <> ?",
        err);
    bool ok = st != NULL;

    if (ok) {
        sqlite3_bind_int64(st, 1, levels);
        sqlite3_bind_int64(st, 2, levels);
        ok = db_step(db, st, found, "read", err);
        if (ok && *found) {
            w->segment = sqlite3_column_int64(st, 0);
            w->service = sqlite3_column_int64(st, 1);
            *missing = levels & ~(unsigned)sqlite3_column_int(st, 2);
        }
    }
    sqlite3_finalize(st);
    return ok;
}

static bool sum_day(struct sqlite_store *s, struct day *day, bool *did,
                    struct error *err)
{
    struct day_conn *c = day_connect(s, day, err);
    struct segment_writer w = {.s = s};
    unsigned missing = 0;
    bool ok = c != NULL;

    if (ok) {
        w.db = c->db;
        ok = find_missing(c->db, s->opt.levels & ~1u, &w, &missing, did, err);
        day->summed = ok && !*did;
        if (ok && *did) {
            ok = sum_segment(s, day, c, &w, missing, err);
            day->compacted = 0; /* what has the same sums can be joined */
        }
        day_disconnect(s, day, c);
    }
    return ok;
}

bool downsample_step(struct sqlite_store *s, bool *did, struct error *err)
{
    int64_t now = engine_now(s);
    struct day **files;
    size_t n;
    bool ok = true;

    if (!(s->opt.levels & ~1u))
        return true;
    if (!days_between(s, STORE_RAW, INT64_MIN, INT64_MAX, &files, &n))
        return error_set(err, "out of memory");
    for (size_t i = 0; i < n; i++) {
        struct day *d = files[i];

        if (ok && !*did && !d->summed &&
            (d->number + 1) * DAY + GRACE_NS < now) {
            ok = sum_day(s, d, did, err) || error_wrap(err, "sum %s", d->path);
            if (ok && *did) {
                pthread_mutex_lock(&s->stats_lock);
                s->stats.downsamplings++;
                pthread_mutex_unlock(&s->stats_lock);
            }
        }
        day_put(s, d);
    }
    free(files);
    return ok;
}
