/*
 * From bytes to a queued log entry.  Only giving numbers to what was read
 * needs the service's lock.
 */
#include <stdlib.h>
#include <string.h>

#include "store/pack.h"
#include "store/segment.h"
#include "store/sqlite/engine.h"

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

static enum store_status queue(struct store *store, const struct put_ready *r,
                               struct error *err)
{
    struct sqlite_store *s = engine_of(store);
    const struct store_put *put = r->put;
    struct entry *e = calloc(1, sizeof(*e));
    enum store_status status = STORE_OK;

    if (!e)
        return engine_no_memory(err);
    e->bytes = e->blob = BUF_INIT(STORE_BUF_BYTES);
    e->done = r->done;
    e->arg = r->arg;
    e->reserved = put->bytes.n;
    e->is_opaque = put->is_opaque;
    e->receipt = r->receipt;
    if (put->is_opaque && !squeeze(put->bytes, 3, &e->blob))
        status = engine_no_memory(err);
    if (status == STORE_OK)
        status = queue_row(s, put, r->c, e, err);
    if (status != STORE_OK)
        entry_free(e);
    return status;
}

void engine_puts_init(struct sqlite_store *s)
{
    put_gate_init(&s->gate, &s->opt, &s->stats, &s->stats_lock, queue);
}

enum store_status engine_put(struct store *store, const struct store_put *put,
                             store_done *done, void *arg, struct error *err)
{
    return put_gate_pass(&engine_of(store)->gate, store, put, done, arg, err);
}
