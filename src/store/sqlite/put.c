/*
 * From bytes to a queued log entry.  Inflating and reading happen outside
 * any lock; only giving numbers to what was read needs the service's.
 */
#include <stdlib.h>
#include <string.h>

#include "base/gzip.h"
#include "base/memory_scope.h"
#include "profile/read.h"
#include "store/grow.h"
#include "store/pack.h"
#include "store/segment.h"
#include "store/sqlite/engine.h"

enum {
    IDLE_BYTES = 8 << 20,  /* larger scratch is not kept */
    SMALL_BYTES = 2 << 20, /* inflated; of larger profiles few are read at a
                              time, because each may need a lot of memory */
};

void scratch_free(struct scratch *c)
{
    intake_release(&c->in);
    interner_release(&c->intern);
    row_samples_release(&c->before);
    buf_release(&c->row);
    free(c->labels);
    free(c);
}

struct scratch *scratch_get(struct sqlite_store *s)
{
    struct scratch *c;

    pthread_mutex_lock(&s->registry);
    c = s->scratches;
    if (c)
        s->scratches = c->next;
    pthread_mutex_unlock(&s->registry);
    if (!c)
        c = calloc(1, sizeof(*c));
    if (c)
        c->row.max = c->in.inflated.max = STORE_BUF_BYTES;
    return c;
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
 * Reading.
 */

static struct profile_limits limits_of(const struct store_options *o)
{
    return (struct profile_limits){
        .input_bytes = o->body_bytes,
        .inflated_bytes = o->inflated_bytes,
        .samples = o->max_samples,
        .string_bytes = o->inflated_bytes,
        .stack_depth = o->max_depth,
        .records = o->inflated_bytes / 8,
    };
}

/* Enters the few that may be large. */
static enum store_status become_large(struct sqlite_store *s, struct scratch *c,
                                      struct error *err)
{
    if (!c->is_large &&
        atomic_fetch_add(&s->large_puts, 1) >= (int)s->opt.large_puts) {
        atomic_fetch_sub(&s->large_puts, 1);
        error_set(err, "too many large profiles are being read; try again");
        return STORE_BUSY;
    }
    c->is_large = true;
    return STORE_OK;
}

static bool inflate_within(struct scratch *c, struct str bytes, size_t max,
                           bool *too_large, struct error *err)
{
    struct buf *out = &c->in.inflated;

    buf_clear(out);
    out->max = max;
    if (gzip_inflate(bytes, out, err))
        return true;
    /* The only words of gzip_inflate() that are about our limit. */
    *too_large =
        str_has_prefix(str_from(err->text), STR("more than the limit"));
    return false;
}

static enum store_status inflate(struct sqlite_store *s, struct scratch *c,
                                 struct str *bytes, struct error *err)
{
    size_t max = s->opt.inflated_bytes;
    size_t small = max < SMALL_BYTES ? max : SMALL_BYTES;
    bool too_large = false, ok;

    if (!gzip_detect(*bytes))
        return bytes->n > SMALL_BYTES ? become_large(s, c, err) : STORE_OK;
    ok = inflate_within(c, *bytes, small, &too_large, err);
    if (!ok && too_large && small < max) {
        enum store_status status = become_large(s, c, err);

        if (status != STORE_OK)
            return status;
        ok = inflate_within(c, *bytes, max, &too_large, err);
    }
    if (ok) {
        *bytes = buf_str(&c->in.inflated);
        return STORE_OK;
    }
    error_wrap(err, "decompressing profile");
    return too_large ? STORE_TOO_LARGE : STORE_INVALID;
}

struct model_read {
    struct str bytes;
    struct profile_limits limits;
    struct profile *p;
    struct error *err;
};

static void read_model(void *arg)
{
    struct model_read *r = arg;

    r->p = profile_read_memory(r->bytes, &r->limits, r->err);
}

/* Formats other than a plain profile.proto go through the model. */
static enum store_status read_other(struct sqlite_store *s, struct scratch *c,
                                    struct str bytes, struct error *err)
{
    struct model_read r = {
        .bytes = bytes, .limits = limits_of(&s->opt), .err = err};
    size_t frames;

    r.limits.input_bytes = s->opt.inflated_bytes;
    if (!memory_scope_run(MEMORY_UNLIMITED, read_model, &r, err))
        return STORE_TOO_LARGE;
    c->model = r.p;
    if (!c->model)
        return STORE_INVALID;
    frames = c->model->loc_start[c->model->n_samples];
    if (frames > s->opt.max_nodes) {
        error_set(err, "%zu frames in all, the limit is %zu", frames,
                  s->opt.max_nodes);
        return STORE_TOO_LARGE;
    }
    return intake_profile(&c->in, c->model) ? STORE_OK : engine_no_memory(err);
}

static enum store_status read_profile(struct sqlite_store *s,
                                      const struct store_put *put,
                                      struct scratch *c, struct error *err)
{
    struct intake_bounds bounds = {s->opt.max_samples, s->opt.max_depth,
                                   s->opt.max_nodes,
                                   limits_of(&s->opt).records};
    struct str bytes = put->bytes;
    enum store_status status = inflate(s, c, &bytes, err);

    if (status != STORE_OK)
        return status;
    switch (intake_read(&c->in, bytes, &bounds, err)) {
    case INTAKE_OK:
        break;
    case INTAKE_TOO_LARGE:
        return STORE_TOO_LARGE;
    case INTAKE_NO_MEMORY:
        return STORE_FAILED;
    case INTAKE_OTHER:
        status = read_other(s, c, bytes, err);
        if (status != STORE_OK)
            return status;
    }
    if (c->in.samples.n == 0 && !put->allow_empty) {
        error_set(err, "profile is empty: no samples");
        return STORE_INVALID;
    }
    return STORE_OK;
}

/*
 * Description.
 */

static enum store_status check_put(const struct sqlite_store *s,
                                   const struct store_put *put,
                                   struct error *err)
{
    size_t bytes = put->service.n + put->type.n;

    if (put->service.n == 0 || put->type.n == 0) {
        error_set(err, put->service.n ? "missing type" : "missing service");
        return STORE_INVALID;
    }
    for (size_t i = 0; i < put->n_labels; i++)
        bytes += put->labels[i].key.n + put->labels[i].value.n;
    if (put->n_labels > s->opt.max_labels || bytes > s->opt.max_label_bytes) {
        error_set(err,
                  "%zu labels, %zu bytes with service and type; the limits "
                  "are %zu labels and %zu bytes",
                  put->n_labels, bytes, s->opt.max_labels,
                  s->opt.max_label_bytes);
        return STORE_TOO_LARGE;
    }
    if (put->bytes.n > s->opt.body_bytes) {
        error_set(err, "profile of %zu bytes, the limit is %zu", put->bytes.n,
                  s->opt.body_bytes);
        return STORE_TOO_LARGE;
    }
    return STORE_OK;
}

/* By key, equal keys in their order. */
static bool sort_labels(struct scratch *c, const struct store_put *put)
{
    if (!grow(&c->labels, &c->labels_cap, put->n_labels))
        return false;
    for (size_t i = 0; i < put->n_labels; i++) {
        struct store_label label = put->labels[i];
        size_t at = i;

        for (; at && str_cmp(c->labels[at - 1].key, label.key) > 0; at--)
            c->labels[at] = c->labels[at - 1];
        c->labels[at] = label;
    }
    return true;
}

static int64_t created_at(const struct sqlite_store *s,
                          const struct store_put *put, const struct intake *in)
{
    int64_t own = put->is_opaque ? 0 : in->time_ns;

    if (put->created_at_ns && (put->created_at_wins || own <= 0))
        return put->created_at_ns;
    return own > 0 ? own : engine_now(s);
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
    enum store_status status =
        put->is_opaque ? STORE_OK : read_profile(s, put, c, err);
    struct entry *e;

    if (status != STORE_OK)
        return status;
    e = calloc(1, sizeof(*e));
    if (!e || !sort_labels(c, put)) {
        free(e);
        return engine_no_memory(err);
    }
    e->bytes = e->blob = BUF_INIT(STORE_BUF_BYTES);
    e->done = done;
    e->arg = arg;
    e->reserved = put->bytes.n;
    e->is_opaque = put->is_opaque;
    e->receipt.id = put->id ? *put->id : store_id_make(engine_now(s));
    e->receipt.created_at_ns = created_at(s, put, &c->in);
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
    enum store_status status = check_put(s, put, err);
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
