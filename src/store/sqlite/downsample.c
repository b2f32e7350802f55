/*
 * Sums of a day that is over: a row for each series and minute, hour or day,
 * with the exact sums by stack and labels, in a file of its own.  They answer
 * long ranges with fewer rows, and may be kept longer than the profiles.
 *
 * The file of the profiles says for which services its sums are complete;
 * when profiles of the day arrive later, the mark goes and the sums are made
 * again.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/i64.h"
#include "store/build.h"
#include "store/grow.h"
#include "store/pack.h"
#include "store/segment.h"
#include "store/sqlite/scan.h"
#include "store/sums.h"

enum { SUM_LEVEL = 9 }; /* zstd's */

#define GRACE_NS ((int64_t)600 * 1000000000) /* after midnight */

/* A sum under way: rows of one series, step and header. */
struct bucket {
    uint32_t series, header; /* in our dictionary */
    uint32_t last_image;     /* + 1 */
    struct buf image;        /* the mappings of all rows, each once */
    int64_t t_ns;
    struct sums sums;
    struct row_meta meta;
};

struct summing {
    struct dict d; /* of the sums */
    struct dict_import import;
    bool has_import;
    int64_t step_ns;
    struct table keys;
    struct bucket *v;
    size_t n, cap;
    struct buf key;
};

static bool begin(void *arg, const struct dict *d, struct error *err)
{
    struct summing *k = arg;

    if (k->has_import)
        dict_import_release(&k->import);
    k->has_import = dict_import_init(&k->import, d, &k->d);
    return k->has_import || error_set(err, "out of memory");
}

static bool has_mapping(const struct bucket *b, uint32_t mapping)
{
    struct wire_reader r = unpack_begin(buf_str(&b->image));
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

/* Where a mapping was first is where the sum's is. */
static bool add_image(struct summing *k, struct bucket *b, uint32_t image)
{
    struct wire_reader r = unpack_begin(dict_get(&k->d, DICT_IMAGE, image));

    if (b->last_image == image + 1)
        return true;
    b->last_image = image + 1;
    while (wire_more(&r)) {
        uint64_t start, size, flags;
        uint32_t id;

        if (!unpack_u32(&r, &id) || !wire_read_varint(&r, &start) ||
            !wire_read_varint(&r, &size) || !wire_read_varint(&r, &flags))
            return false;
        if (has_mapping(b, id))
            continue;
        wire_add_varint(&b->image, id);
        wire_add_varint(&b->image, start);
        wire_add_varint(&b->image, size);
        wire_add_varint(&b->image, flags);
    }
    return buf_ok(&b->image);
}

static struct bucket *bucket_for(struct summing *k, const struct row_meta *m,
                                 uint64_t cumulative)
{
    uint32_t series, header, id;
    int64_t t = m->created_ns - m->created_ns % k->step_ns;
    struct bucket *b;

    if (!dict_import_record(&k->import, DICT_SERIES, m->series, &series) ||
        !dict_import_record(&k->import, DICT_HEADER, m->header, &header))
        return NULL;
    buf_clear(&k->key);
    buf_addf(&k->key, "%u %u %lld", series, header, (long long)t);
    if (!buf_ok(&k->key) || !table_intern(&k->keys, buf_str(&k->key), &id) ||
        !grow(&k->v, &k->cap, (size_t)id + 1))
        return NULL;
    b = &k->v[id];
    if (id < k->n)
        return b;
    *b = (struct bucket){.series = series, .header = header, .t_ns = t};
    b->image = BUF_INIT(STORE_BUF_BYTES);
    k->n++;
    b->sums.columns = m->n_totals + (size_t)__builtin_popcountll(cumulative);
    b->meta = (struct row_meta){.id = m->id, .time_ns = m->time_ns};
    return row_meta_totals(&b->meta, m->n_totals) ? b : NULL;
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
    if (to->time_ns == 0 || m->time_ns < to->time_ns)
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
static bool add_values(struct summing *k, struct bucket *b,
                       const struct row_samples *s, uint64_t cumulative,
                       bool as_sent, int64_t sign)
{
    for (size_t i = 0; i < s->n; i++) {
        const int64_t *v = s->values + i * s->columns;
        size_t extra = s->columns;
        uint32_t node, labels;
        int64_t *sum;

        if (!dict_import_node(&k->import, s->nodes[i], &node) ||
            !dict_import_record(&k->import, DICT_LABELS, s->labels[i],
                                &labels) ||
            !(sum = sums_at(&b->sums, node, labels)))
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

static bool add_row(void *arg, const struct scan_row *row, struct error *err)
{
    struct summing *k = arg;
    const struct row_meta *m = row->meta;
    struct bucket *b;
    uint32_t image;
    bool ok;

    if (m->flags & ROW_OPAQUE)
        return true;
    b = bucket_for(k, m, row->cumulative);
    ok = b && dict_import_record(&k->import, DICT_IMAGE, m->image, &image) &&
         add_image(k, b, image) &&
         add_values(k, b, row->samples, row->cumulative, true, 1);
    if (ok && row->cumulative && m->flags & ROW_CHANGES) {
        ok = add_values(k, b, row->samples, row->cumulative, false, 1);
        if (ok && row->before && !(m->flags & ROW_RESTART))
            ok = add_values(k, b, row->before, row->cumulative, false, -1);
    }
    if (!ok)
        return error_set(err, "out of memory");
    add_meta(b, m, row->cumulative);
    return true;
}

/* The sum as a row of the builder. */
static bool end_bucket(struct builder *out, struct bucket *b,
                       struct dict_import *import)
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
    m->series = b->series;
    m->header = b->header;
    m->created_ns = b->t_ns;
    m->samples = s.n;
    m->flags = ROW_SUM | ROW_CHANGES;
    m->extras = STR("");
    ok = ok && builder_add(out, import, m, &s, NULL);
    row_samples_release(&s);
    return ok;
}

static bool end(struct summing *k, struct builder *out, struct error *err)
{
    struct dict_import m;
    bool ok = true;

    for (size_t i = 0; ok && i < k->n; i++)
        ok = dict_intern(&k->d, DICT_IMAGE, buf_str(&k->v[i].image),
                         &k->v[i].meta.image);
    if (!ok || !dict_import_init(&m, &k->d, &out->d))
        return error_set(err, "out of memory");
    for (size_t i = 0; ok && i < k->n; i++)
        ok = end_bucket(out, &k->v[i], &m);
    dict_import_release(&m);
    return ok || error_set(err, "out of memory");
}

static void release(struct summing *k)
{
    for (size_t i = 0; i < k->n; i++) {
        sums_release(&k->v[i].sums);
        buf_release(&k->v[i].image);
        row_meta_release(&k->v[i].meta);
    }
    free(k->v);
    table_release(&k->keys);
    buf_release(&k->key);
    if (k->has_import)
        dict_import_release(&k->import);
    dict_release(&k->d);
}

/*
 * Files.
 */

static bool run_with(sqlite3 *db, const char *sql, int64_t a, int64_t b,
                     struct error *err)
{
    sqlite3_stmt *st = db_prepare(db, sql, err);
    bool ok = st != NULL;

    if (ok) {
        sqlite3_bind_int64(st, 1, a);
        if (sqlite3_bind_parameter_count(st) > 1)
            sqlite3_bind_int64(st, 2, b);
        ok = db_run(db, st, "write", err);
    }
    sqlite3_finalize(st);
    return ok;
}

/* Replaces the sums of a service. */
static bool write_sums(struct sqlite_store *s, struct day *to,
                       struct str service, struct builder *b, struct error *err)
{
    struct day_conn *c = day_connect(s, to, err);
    struct segment_writer w = {.s = s};
    struct error ignored;
    bool ok = c && db_exec(c->db, "BEGIN IMMEDIATE", err);

    if (ok) {
        w.db = c->db;
        ok = day_add_service(c->db, service, &w.service, err) &&
             run_with(c->db,
                      "DELETE FROM block WHERE segment IN (SELECT id FROM "
                      "segment WHERE service=?)",
                      w.service, 0, err) &&
             run_with(c->db, "DELETE FROM segment WHERE service=?", w.service,
                      0, err) &&
             (!b->n || segment_write(&w, b, service, SUM_LEVEL, err)) &&
             db_exec(c->db, "COMMIT", err);
        if (!ok)
            db_exec(c->db, "ROLLBACK", &ignored);
        else if (b->n)
            day_note(s, to, w.t0_ns, w.t1_ns);
        day_shrink(c);
    }
    if (c)
        day_disconnect(s, to, c);
    return ok;
}

static bool sum_service(struct sqlite_store *s, struct day *day,
                        struct str service, enum store_level level,
                        struct error *err)
{
    struct store_query q = {.from_ns = INT64_MIN, .to_ns = INT64_MAX};
    struct summing k = {.step_ns = level_ns[level],
                        .key = BUF_INIT(STORE_BUF_BYTES)};
    struct scan c = {.s = &s->base,
                     .q = &q,
                     .with_samples = true,
                     .segment = begin,
                     .row = add_row,
                     .arg = &k};
    struct builder out = {0};
    struct day *to;
    bool ok = dict_init(&k.d) && builder_init(&out);

    if (!ok)
        error_set(err, "out of memory");
    ok = ok && scan_day(&c, day, service, err) && end(&k, &out, err);
    to = ok ? day_get(s, day->number, level, true, err) : NULL;
    if (to) {
        ok = write_sums(s, to, service, &out, err);
        day_put(s, to);
    }
    release(&k);
    builder_release(&out);
    return ok && to;
}

/* A service of the file without sums of a level. */
static bool find_missing(struct day_conn *c, enum store_level level,
                         int64_t *id, struct buf *name, bool *found,
                         struct error *err)
{
    sqlite3_stmt *st = db_prepare(
        c->db,
        "SELECT id, name FROM service WHERE id NOT IN (SELECT service FROM "
        "summed WHERE level=?) LIMIT 1",
        err);
    bool ok = st != NULL;

    if (ok) {
        sqlite3_bind_int64(st, 1, level);
        ok = db_step(c->db, st, found, "read", err);
        if (ok && *found) {
            *id = sqlite3_column_int64(st, 0);
            buf_clear(name);
            buf_add(name, db_column_str(st, 1));
            ok = buf_ok(name) || error_set(err, "out of memory");
        }
    }
    sqlite3_finalize(st);
    return ok;
}

static bool sum_day(struct sqlite_store *s, struct day *day, bool *did,
                    struct error *err)
{
    struct day_conn *c = day_connect(s, day, err);
    struct buf name = BUF_INIT(STORE_BUF_BYTES);
    int64_t id = 0;
    bool ok = c != NULL;

    for (int level = STORE_MINUTE; ok && !*did && level < STORE_LEVELS;
         level++) {
        if (!(s->opt.levels & 1u << level))
            continue;
        ok = find_missing(c, (enum store_level)level, &id, &name, did, err);
        if (ok && *did)
            ok = sum_service(s, day, buf_str(&name), (enum store_level)level,
                             err) &&
                 run_with(c->db, "INSERT OR IGNORE INTO summed VALUES(?,?)", id,
                          level, err);
    }
    if (ok && !*did)
        day->summed = true;
    if (c)
        day_disconnect(s, day, c);
    buf_release(&name);
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
