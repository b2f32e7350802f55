/*
 * From bytes to rows that wait for a batch.
 */
#include <stdlib.h>

#include "store/clickhouse/engine.h"
#include "store/pack.h"

enum { IDLE_BYTES = 8 << 20 }; /* larger scratch is not kept */

void ch_entry_free(struct ch_entry *e)
{
    if (!e)
        return;
    buf_release(&e->records);
    buf_release(&e->row);
    free(e);
}

static struct scratch *take_scratch(struct ch_store *s)
{
    struct scratch *c;

    pthread_mutex_lock(&s->registry);
    c = s->scratches;
    if (c)
        s->scratches = c->next;
    pthread_mutex_unlock(&s->registry);
    return c ? c : scratch_new();
}

static void give_scratch(struct ch_store *s, struct scratch *c)
{
    bool was_large = c->is_large;

    profile_free(c->model);
    c->model = NULL;
    c->is_large = false;
    if (was_large)
        atomic_fetch_sub(&s->large_puts, 1);
    if (was_large || c->in.inflated.cap > IDLE_BYTES) {
        scratch_free(c);
        return;
    }
    pthread_mutex_lock(&s->registry);
    c->next = s->scratches;
    s->scratches = c;
    pthread_mutex_unlock(&s->registry);
}

/* What was sent before a batch was given up has to be sent again. */
static void follow_epoch(struct ch_store *s, struct ch_service *v)
{
    unsigned now = atomic_load(&s->epoch);

    if (v->epoch != now)
        ch_service_forget(v);
    v->epoch = now;
}

static void count_memory(struct ch_store *s, struct ch_service *v)
{
    size_t now = ch_service_memory(v);

    atomic_fetch_add(&s->memory, now - v->memory);
    v->memory = now;
}

/* Everything that needs the service's lock. */
static bool make_rows(struct ch_store *s, struct ch_service *v,
                      const struct store_put *put, struct scratch *c,
                      struct ch_entry *e)
{
    struct interner *t = &c->intern;
    bool ok;

    follow_epoch(s, v);
    if (atomic_load(&s->memory) > s->opt.head_bytes)
        ch_service_forget(v);
    ok = v->d.n_nodes || dict_init(&v->d);
    ok = ok && (put->is_opaque ? intern_opaque(t, &v->d)
                               : intern_profile(t, &c->in, &v->d, &v->guard,
                                                put->is_delta));
    if (ok) {
        t->meta.id = e->receipt.id;
        t->meta.created_ns = e->receipt.created_at_ns;
        t->meta.posted_bytes = put->bytes.n;
        e->receipt.dropped_labels = t->dropped_labels;
        e->epoch = v->epoch;
        ok = ch_service_write(v, t, put, c->labels, e);
    }
    if (!ok) /* some records may count as sent */
        ch_service_forget(v);
    else
        ch_enqueue(s, e); /* in the order of the records */
    count_memory(s, v);
    return ok;
}

/* Room in the queue is taken first, so that a store that cannot keep up
 * refuses before it works. */
static bool reserve(struct ch_store *s, size_t bytes)
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

void ch_unreserve(struct ch_store *s, size_t bytes)
{
    pthread_mutex_lock(&s->queue);
    s->queued--;
    s->queued_bytes -= bytes;
    pthread_mutex_unlock(&s->queue);
}

static enum store_status put_reserved(struct ch_store *s,
                                      const struct store_put *put,
                                      struct scratch *c, store_done *done,
                                      void *arg, struct error *err)
{
    struct put_bounds bounds = {&s->opt, &s->large_puts};
    enum store_status status =
        put->is_opaque ? STORE_OK : put_read(&bounds, put, c, err);
    struct ch_service *v;
    struct ch_entry *e;
    bool ok;

    if (status != STORE_OK)
        return status;
    v = ch_service_get(s, put->service);
    e = calloc(1, sizeof(*e));
    if (!v || !e || !put_sort_labels(c, put)) {
        free(e);
        return store_no_memory(err);
    }
    e->records = e->row = BUF_INIT(STORE_BUF_BYTES);
    e->done = done;
    e->arg = arg;
    e->reserved = put->bytes.n;
    e->receipt.id = put->id ? *put->id : store_id_make(put_now(&s->opt));
    e->receipt.created_at_ns = put_created_at(&bounds, put, &c->in);
    pthread_mutex_lock(&v->lock);
    ok = make_rows(s, v, put, c, e);
    pthread_mutex_unlock(&v->lock);
    if (ok)
        return STORE_OK;
    ch_entry_free(e);
    return store_no_memory(err);
}

static enum store_status put_one(struct ch_store *s,
                                 const struct store_put *put, store_done *done,
                                 void *arg, struct error *err)
{
    struct put_bounds bounds = {&s->opt, &s->large_puts};
    enum store_status status = put_check(&bounds, put, err);
    struct scratch *c;

    if (status != STORE_OK)
        return status;
    if (!reserve(s, put->bytes.n)) {
        error_set(err, "too many profiles wait to be written; try again");
        return STORE_BUSY;
    }
    c = take_scratch(s);
    status = c ? put_reserved(s, put, c, done, arg, err) : store_no_memory(err);
    if (c)
        give_scratch(s, c);
    if (status != STORE_OK)
        ch_unreserve(s, put->bytes.n);
    return status;
}

static void count(struct ch_store *s, enum store_status status, size_t n)
{
    pthread_mutex_lock(&s->stats_lock);
    s->stats.puts += status == STORE_OK;
    s->stats.posted_bytes += status == STORE_OK ? n : 0;
    s->stats.busy += status == STORE_BUSY;
    s->stats.failed += status == STORE_FAILED;
    s->stats.rejected += status == STORE_INVALID || status == STORE_TOO_LARGE;
    pthread_mutex_unlock(&s->stats_lock);
}

static bool note_found(void *arg, const struct store_profile *p)
{
    struct store_receipt *receipt = arg;

    receipt->id = p->id;
    receipt->created_at_ns = p->created_at_ns;
    receipt->was_there = true;
    return true;
}

enum store_status ch_put(struct store *store, const struct store_put *put,
                         store_done *done, void *arg, struct error *err)
{
    struct ch_store *s = ch_of(store);
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
