/*
 * Sealing: the rows of an open segment go into the files of their days, then
 * the log is trimmed.
 *
 * The segment is taken out of use first, so that new profiles go into a
 * fresh one meanwhile.  The transactions end, and the segment goes, under
 * the service's lock: a read sees the rows in memory or on disk, never
 * twice.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "store/build.h"
#include "store/grow.h"
#include "store/pack.h"
#include "store/sqlite/engine.h"

enum { SEAL_LEVEL = 3 }; /* zstd's */

struct sealing_day {
    int32_t number;
    struct day *day;
    struct day_conn *conn;
    struct builder b;
    struct dict_import import;
    bool imports; /* the dictionary is not taken as it is */
    struct segment_writer w;
    bool begun;
};

struct seal {
    struct sqlite_store *s;
    struct service *v;
    struct open_segment *g;
    struct sealing_day *days;
    size_t n, cap;
};

/* The builder for the rows of a day. */
static struct sealing_day *day_for(struct seal *k, int64_t created_ns)
{
    int32_t number = day_number(k->s, created_ns);
    struct sealing_day *d;

    for (size_t i = 0; i < k->n; i++)
        if (k->days[i].number == number)
            return &k->days[i];
    if (k->n == k->cap)
        return NULL;
    d = &k->days[k->n++];
    *d = (struct sealing_day){.number = number};
    if (k->cap == 1) { /* as nearly always */
        builder_borrow(&d->b, &k->g->d);
        return d;
    }
    d->imports =
        builder_init(&d->b) && dict_import_init(&d->import, &k->g->d, &d->b.d);
    return d->imports ? d : NULL;
}

/* Days differ for a handful of rows at midnight, or for thousands when old
 * data are imported; the array must not move, since builders point into
 * it. */
static bool count_days(struct seal *k)
{
    int32_t *numbers = malloc((k->g->n_rows + 1) * sizeof(*numbers));
    size_t n = 0;

    if (!numbers)
        return false;
    for (size_t i = 0; i < k->g->n_rows; i++) {
        int32_t number = day_number(k->s, k->g->rows[i]->created_ns);
        size_t at = n;

        while (at && numbers[at - 1] != number)
            at--;
        if (!at)
            numbers[n++] = number;
    }
    free(numbers);
    k->cap = n;
    k->days = calloc(n + 1, sizeof(*k->days));
    return k->days != NULL;
}

static bool collect_series(struct seal *k, uint32_t series,
                           struct open_reader *r, struct error *err)
{
    struct sealing_day *last = NULL, *d;
    bool more;

    open_reader_begin(r, k->g, series, true);
    for (; open_reader_next(r, &more, err); last = d) {
        const struct row_samples *before = NULL;

        if (!more)
            return true;
        d = day_for(k, r->meta.created_ns);
        /* Further rows of the day have each other. */
        if (r->meta.flags & ROW_CHANGES && r->has_before && d != last)
            before = &r->before;
        if (!d || !builder_add(&d->b, d->imports ? &d->import : NULL, &r->meta,
                               &r->samples, before))
            return error_set(err, "out of memory");
    }
    return false;
}

static bool collect(struct seal *k, struct error *err)
{
    struct open_reader r = {0};
    bool ok = count_days(k) || error_set(err, "out of memory");

    for (uint32_t i = 0; ok && i < k->g->n_series; i++)
        ok = collect_series(k, i, &r, err);
    open_reader_release(&r);
    return ok;
}

static bool note_generation(struct seal *k, sqlite3 *db, struct error *err)
{
    sqlite3_stmt *st =
        db_prepare(db, "INSERT OR IGNORE INTO sealed VALUES(?,?)", err);
    bool ok = st != NULL;

    if (ok) {
        db_bind_str(st, 1, k->v->name);
        sqlite3_bind_int64(st, 2, (int64_t)k->g->generation);
        ok = db_run(db, st, "write", err);
    }
    sqlite3_finalize(st);
    return ok;
}

/* Copies the bytes of opaque rows from head.db. */
static bool copy_blobs(struct seal *k, struct sealing_day *d, struct error *err)
{
    sqlite3_stmt *to = db_prepare(
        d->conn->db, "INSERT OR REPLACE INTO blob(id, series, b) VALUES(?,?,?)",
        err);
    bool ok = to != NULL;

    for (size_t i = 0; ok && i < d->b.n; i++) {
        const struct row_meta *m = &d->b.rows[i].meta;
        struct str id = str_of((const char *)m->id.bytes, STORE_ID_BYTES);
        struct buf bytes = BUF_INIT(STORE_BUF_BYTES);

        if (!(m->flags & ROW_OPAQUE))
            continue;
        ok = head_blob(k->s, &m->id, &bytes, err);
        if (ok) {
            db_bind_str(to, 1, id);
            sqlite3_bind_int64(to, 2, d->w.series[m->series]);
            db_bind_str(to, 3, buf_str(&bytes));
            ok = db_run(d->conn->db, to, "write", err);
        }
        buf_release(&bytes);
    }
    sqlite3_finalize(to);
    return ok;
}

static bool write_day(struct seal *k, struct sealing_day *d, struct error *err)
{
    d->day = day_get(k->s, d->number, STORE_RAW, true, err);
    d->conn = d->day ? day_connect(k->s, d->day, err) : NULL;
    if (!d->conn || !db_exec(d->conn->db, "BEGIN IMMEDIATE", err))
        return false;
    d->begun = true;
    d->w =
        (struct segment_writer){.s = k->s, .db = d->conn->db, .with_ids = true};
    return segment_write(&d->w, &d->b, k->v->name, SEAL_LEVEL, err) &&
           copy_blobs(k, d, err) && note_generation(k, d->conn->db, err);
}

static bool commit_day(struct seal *k, struct sealing_day *d, struct error *err)
{
    if (!db_exec(d->conn->db, "COMMIT", err))
        return false;
    d->begun = false;
    day_note(k->s, d->day, d->w.t0_ns, d->w.t1_ns);
    d->day->compacted = 0;
    d->day->summed = false;
    return true;
}

static void release(struct seal *k)
{
    struct error ignored;

    for (size_t i = 0; i < k->n; i++) {
        struct sealing_day *d = &k->days[i];

        if (d->begun)
            db_exec(d->conn->db, "ROLLBACK", &ignored);
        if (d->conn) {
            sqlite3_wal_checkpoint_v2(d->conn->db, NULL,
                                      SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
            day_disconnect(k->s, d->day, d->conn);
        }
        if (d->day)
            day_put(k->s, d->day);
        if (d->imports)
            dict_import_release(&d->import);
        builder_release(&d->b);
        segment_writer_release(&d->w);
    }
    free(k->days);
}

/* Takes the open segment out of use; false when there is none, or when an
 * earlier one is not sealed yet and must be first. */
static bool take_segment(struct sqlite_store *s, struct service *v)
{
    struct open_segment *fresh;

    if (v->sealing || !v->open || !v->open->n_rows)
        return v->sealing != NULL;
    fresh = open_segment_new(s->opt.max_label_values);
    if (fresh && !open_segment_carry(v->open, fresh)) {
        open_segment_free(fresh);
        fresh = NULL;
    }
    if (fresh && !fresh->n_series) {
        open_segment_free(fresh);
        fresh = NULL;
    }
    v->sealing = v->open;
    v->open = fresh;
    if (fresh)
        atomic_fetch_add(&s->head_memory, open_segment_memory(fresh));
    return true;
}

/* Rows on their way to the log have a few ms to arrive. */
static void wait_for_pending(struct service *v)
{
    while (v->sealing->pending) {
        pthread_mutex_unlock(&v->lock);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        pthread_mutex_lock(&v->lock);
    }
}

/* What is on disk already must not be seen twice. */
static void hide(struct seal *k, int32_t day)
{
    for (size_t i = 0; i < k->g->n_rows; i++) {
        struct open_row *row = k->g->rows[i];

        if (row->state == ROW_DONE && day_number(k->s, row->created_ns) == day)
            row->state = ROW_PENDING;
    }
}

/* The segment stays until it is marked, so that the log does: when that
 * fails, the next try finds all of its rows sealed. */
static bool finish(struct seal *k, struct error *err)
{
    bool ok = true;

    pthread_mutex_lock(&k->v->lock);
    for (size_t i = 0; ok && i < k->n; i++) {
        ok = commit_day(k, &k->days[i], err);
        if (ok)
            hide(k, k->days[i].number);
    }
    pthread_mutex_unlock(&k->v->lock);
    ok = ok && mark_sealed(k->s, k->v->name, k->g->generation, err);
    pthread_mutex_lock(&k->v->lock);
    if (ok)
        k->v->sealing = NULL;
    pthread_mutex_unlock(&k->v->lock);
    return ok;
}

bool seal_service(struct sqlite_store *s, struct service *v, struct error *err)
{
    struct seal k = {.s = s, .v = v};
    bool ok;

    pthread_mutex_lock(&v->lock);
    if (!take_segment(s, v)) {
        pthread_mutex_unlock(&v->lock);
        return true;
    }
    wait_for_pending(v);
    pthread_mutex_unlock(&v->lock);
    k.g = v->sealing;
    ok = collect(&k, err);
    for (size_t i = 0; ok && i < k.n; i++)
        ok = write_day(&k, &k.days[i], err);
    ok = ok && finish(&k, err);
    release(&k);
    if (!ok)
        return error_wrap(err, "seal service %" STR_FMT, STR_ARG(v->name));
    atomic_fetch_sub(&s->head_memory, open_segment_memory(k.g));
    open_segment_free(k.g);
    pthread_mutex_lock(&s->stats_lock);
    s->stats.seals++;
    pthread_mutex_unlock(&s->stats_lock);
    return true;
}

static bool has_sealed_rows(const struct open_segment *g)
{
    for (size_t i = 0; i < g->n_rows; i++)
        if (g->rows[i]->state == ROW_PENDING)
            return true;
    return false;
}

bool seal_retire(struct sqlite_store *s, struct service *v, struct error *err)
{
    bool ok = true;

    if (!v->open || !has_sealed_rows(v->open))
        return true;
    if (v->sealing)
        ok = seal_service(s, v, err);
    pthread_mutex_lock(&v->lock);
    ok = ok && take_segment(s, v);
    pthread_mutex_unlock(&v->lock);
    return ok;
}

/*
 * Which service to seal next.
 */

struct choice {
    struct sqlite_store *s;
    bool over_memory, over_log;
    struct service *best;
    uint64_t score;
    size_t memory;
};

/* A segment that holds nothing but the last rows of its series is kept for
 * this long. */
#define CARRY_NS ((int64_t)3600 * 1000000000)

static uint64_t score_of(const struct choice *c, const struct open_segment *g)
{
    const struct store_options *o = &c->s->opt;

    if (g->d.n_nodes >= o->seal_nodes || g->n_rows >= o->seal_profiles ||
        g->d.tables[DICT_LABELS].n >= o->seal_nodes ||
        clock_monotonic_ns() - g->opened_ns >= o->seal_age_ns)
        return UINT64_MAX;
    if (c->over_memory)
        return open_segment_memory(g);
    return c->over_log ? UINT64_MAX / 2 - (uint64_t)g->first_seq : 0;
}

static bool consider(struct service *v, void *arg)
{
    struct choice *c = arg;
    uint64_t score = 0;

    pthread_mutex_lock(&v->lock);
    if (v->open && !v->open->n_rows &&
        clock_monotonic_ns() - v->open->opened_ns > CARRY_NS) {
        open_segment_free(v->open);
        v->open = NULL;
    }
    if (v->open)
        c->memory += open_segment_memory(v->open);
    if (v->sealing)
        score = UINT64_MAX;
    else if (v->open && v->open->n_rows > v->open->pending)
        score = score_of(c, v->open);
    pthread_mutex_unlock(&v->lock);
    if (score <= c->score)
        return true;
    if (c->best)
        service_put(c->s, c->best);
    c->best = service_get(c->s, v->name, false);
    c->score = score;
    return true;
}

bool seal_step(struct sqlite_store *s, bool *did, struct error *err)
{
    struct choice c = {.s = s};
    bool ok = true;

    c.over_memory = atomic_load(&s->head_memory) > s->opt.head_bytes;
    c.over_log = atomic_load(&s->log_bytes) > (long long)s->opt.log_bytes;
    service_each(s, consider, &c);
    atomic_store(&s->head_memory, c.memory); /* corrects what has drifted */
    *did = c.best != NULL;
    if (c.best) {
        ok = seal_service(s, c.best, err);
        service_put(s, c.best);
        ok = ok && trim_log(s, err);
    }
    return ok;
}
