/*
 * From bytes to rows that wait for a batch.
 */
#include <stdlib.h>

#include "store/clickhouse/engine.h"
#include "store/pack.h"

void ch_entry_free(struct ch_entry *e)
{
    if (!e)
        return;
    buf_release(&e->records);
    buf_release(&e->row);
    free(e);
}

/* What was sent before a batch was given up has to be sent again, and so has
 * what a host had that is down now. */
static void follow_epoch(struct ch_store *s, struct ch_service *v)
{
    unsigned epoch = atomic_load(&s->epoch);
    unsigned failovers = atomic_load(&s->failovers);

    if (v->epoch != epoch || v->failovers != failovers)
        ch_service_forget(v);
    v->epoch = epoch;
    v->failovers = failovers;
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

static enum store_status queue(struct store *store, const struct put_ready *r,
                               struct error *err)
{
    struct ch_store *s = ch_of(store);
    struct ch_service *v = ch_service_get(s, r->put->service);
    struct ch_entry *e = calloc(1, sizeof(*e));
    bool ok;

    if (!v || !e) {
        free(e);
        return store_no_memory(err);
    }
    e->records = e->row = BUF_INIT(STORE_BUF_BYTES);
    e->done = r->done;
    e->arg = r->arg;
    e->reserved = r->put->bytes.n;
    e->receipt = r->receipt;
    pthread_mutex_lock(&v->lock);
    ok = make_rows(s, v, r->put, r->c, e);
    pthread_mutex_unlock(&v->lock);
    if (ok)
        return STORE_OK;
    ch_entry_free(e);
    return store_no_memory(err);
}

void ch_puts_init(struct ch_store *s)
{
    put_gate_init(&s->gate, &s->opt, &s->stats, &s->stats_lock, queue);
}

enum store_status ch_put(struct store *store, const struct store_put *put,
                         store_done *done, void *arg, struct error *err)
{
    return put_gate_pass(&ch_of(store)->gate, store, put, done, arg, err);
}
