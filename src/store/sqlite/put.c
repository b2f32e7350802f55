/*
 * From bytes to a queued log entry.  Only giving numbers to what was read
 * needs the service's lock.
 */
#include <stdlib.h>
#include <string.h>

#include "store/pack.h"
#include "store/segment.h"
#include "store/sqlite/engine.h"

enum {
    IDLE_BYTES = 8 << 20, /* larger scratch is not kept */
};

static struct put_bounds bounds_of(struct sqlite_store *s)
{
    return (struct put_bounds){&s->opt, &s->large_puts};
}

struct scratch *scratch_get(struct sqlite_store *s)
{
    struct scratch *c;

    pthread_mutex_lock(&s->registry);
    c = s->scratches;
    if (c)
        s->scratches = c->next;
    pthread_mutex_unlock(&s->registry);
    return c ? c : scratch_new();
}

void scratch_put(struct sqlite_store *s, struct scratch *c)
{
    bool was_large = c->is_large;

    profile_free(c->model);
    c->model = NULL;
    c->is_large = false;
    if (was_large || c->in.inflated.cap > IDLE_BYTES ||
        c->in.stack.cap * sizeof(*c->in.stack.v) > IDLE_BYTES) {
        scratch_free(c);
        if (was_large)
            atomic_fetch_sub(&s->large_puts, 1);
        return;
    }
    pthread_mutex_lock(&s->registry);
    c->next = s->scratches;
    s->scratches = c;
    pthread_mutex_unlock(&s->registry);
}

/*
 * Queueing.
 */

static void write_entry(struct entry *e, const struct service *v,
                        const struct open_segment *g)
{
    const struct open_row *row = e->row;

    pack_bytes(&e->bytes, v->name);
    wire_add_varint(&e->bytes, g->generation);
    dict_write_since(&g->d, &g->logged, &e->bytes);
    wire_add_varint(&e->bytes, row->meta_n);
    wire_add_varint(&e->bytes, row->before_n);
    wire_add_varint(&e->bytes, row->samples_n);
    buf_add_bytes(&e->bytes, row->bytes,
                  (size_t)row->meta_n + row->before_n + row->samples_n);
}

/* Everything that needs the service's lock. */
static bool add_row(struct sqlite_store *s, const struct store_put *put,
                    struct scratch *c, struct entry *e)
{
    struct service *v = e->service;
    struct interner *t = &c->intern;
    struct open_segment *g;
    size_t memory;

    if (!v->open)
        v->open = open_segment_new(s->opt.max_label_values);
    g = v->open;
    if (!g)
        return false;
    memory = open_segment_memory(g);
    if (!(put->is_opaque
              ? intern_opaque(t, &g->d)
              : intern_profile(t, &c->in, &g->d, &g->guard, put->is_delta)) ||
        !intern_series(t, &g->d, put->type, c->labels, put->n_labels,
                       &t->meta.series))
        return false;
    t->meta.id = e->receipt.id;
    t->meta.created_ns = e->receipt.created_at_ns;
    t->meta.posted_bytes = put->bytes.n;
    e->receipt.dropped_labels = t->dropped_labels;
    if (!open_series_pack(g, &t->meta, &t->samples, &c->before, &e->row,
                          &c->row))
        return false;
    write_entry(e, v, g);
    if (!buf_ok(&e->bytes) || !open_segment_add(g, e->row)) {
        free(e->row);
        open_segment_forget(g); /* it remembers a row that is not there */
        return false;
    }
    e->segment = g;
    e->before = g->logged;
    e->epoch = g->epoch;
    g->logged = dict_size(&g->d);
    g->pending++;
    atomic_fetch_add(&s->head_memory, open_segment_memory(g) - memory);
    commit_enqueue(s, e);
    return true;
}

static enum store_status queue_row(struct sqlite_store *s,
                                   const struct store_put *put,
                                   struct scratch *c, struct entry *e,
                                   struct error *err)
{
    bool ok;

    e->service = service_get(s, put->service, true);
    if (!e->service)
        return engine_no_memory(err);
    pthread_mutex_lock(&e->service->lock);
    ok = add_row(s, put, c, e);
    pthread_mutex_unlock(&e->service->lock);
    if (ok)
        return STORE_OK;
    service_put(s, e->service);
    return engine_no_memory(err);
}

/* Room in the queue is taken first, so that a store that cannot keep up
 * refuses before it works. */
static bool reserve(struct sqlite_store *s, size_t bytes)
{
    bool ok;

    pthread_mutex_lock(&s->queue);
    ok = s->queued < s->opt.queue_profiles &&
         (s->queued == 0 || s->queued_bytes + bytes <= s->opt.queue_bytes);
    if (ok) {
        s->queued++;
        s->queued_bytes += bytes;
    }
    pthread_mutex_unlock(&s->queue);
    return ok;
}

static void unreserve(struct sqlite_store *s, size_t bytes)
{
    pthread_mutex_lock(&s->queue);
    s->queued--;
    s->queued_bytes -= bytes;
    pthread_mutex_unlock(&s->queue);
}

static enum store_status put_reserved(struct sqlite_store *s,
                                      const struct store_put *put,
                                      struct scratch *c, store_done *done,
                                      void *arg, struct error *err)
{
    struct put_bounds bounds = bounds_of(s);
    enum store_status status =
        put->is_opaque ? STORE_OK : put_read(&bounds, put, c, err);
    struct entry *e;

    if (status != STORE_OK)
        return status;
    e = calloc(1, sizeof(*e));
    if (!e || !put_sort_labels(c, put)) {
        free(e);
        return engine_no_memory(err);
    }
    e->bytes = e->blob = BUF_INIT(STORE_BUF_BYTES);
    e->done = done;
    e->arg = arg;
    e->reserved = put->bytes.n;
    e->is_opaque = put->is_opaque;
    e->receipt.id = put->id ? *put->id : store_id_make(engine_now(s));
    e->receipt.created_at_ns = put_created_at(&bounds, put, &c->in);
    if (put->is_opaque && !squeeze(put->bytes, 3, &e->blob))
        status = engine_no_memory(err);
    if (status == STORE_OK)
        status = queue_row(s, put, c, e, err);
    if (status != STORE_OK)
        entry_free(e);
    return status;
}

static void count(struct sqlite_store *s, enum store_status status, size_t n)
{
    pthread_mutex_lock(&s->stats_lock);
    s->stats.puts += status == STORE_OK;
    s->stats.posted_bytes += status == STORE_OK ? n : 0;
    s->stats.busy += status == STORE_BUSY;
    s->stats.failed += status == STORE_FAILED;
    s->stats.rejected += status == STORE_INVALID || status == STORE_TOO_LARGE;
    pthread_mutex_unlock(&s->stats_lock);
}

static enum store_status put_one(struct sqlite_store *s,
                                 const struct store_put *put, store_done *done,
                                 void *arg, struct error *err)
{
    struct put_bounds bounds = bounds_of(s);
    enum store_status status = put_check(&bounds, put, err);
    struct scratch *c;

    if (status != STORE_OK)
        return status;
    if (!reserve(s, put->bytes.n)) {
        error_set(err, "too many profiles wait to be written; try again");
        return STORE_BUSY;
    }
    c = scratch_get(s);
    status =
        c ? put_reserved(s, put, c, done, arg, err) : engine_no_memory(err);
    if (c)
        scratch_put(s, c);
    if (status != STORE_OK)
        unreserve(s, put->bytes.n);
    return status;
}

static bool note_found(void *arg, const struct store_profile *p)
{
    struct store_receipt *receipt = arg;

    receipt->id = p->id;
    receipt->created_at_ns = p->created_at_ns;
    receipt->was_there = true;
    return true;
}

enum store_status engine_put(struct store *store, const struct store_put *put,
                             store_done *done, void *arg, struct error *err)
{
    struct sqlite_store *s = engine_of(store);
    struct store_receipt receipt = {0};
    enum store_status status;

    if (put->id) {
        status = store_describe(store, put->id, note_found, &receipt, err);
        if (status == STORE_OK)
            done(arg, STORE_OK, &receipt, NULL);
        if (status != STORE_NOT_FOUND)
            return status;
    }
    status = put_one(s, put, done, arg, err);
    count(s, status, put->bytes.n);
    return status;
}
