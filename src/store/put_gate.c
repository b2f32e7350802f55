/*
 * What every engine does with a put before it queues it.
 */
#include "store/put_gate.h"

#include "store/id.h"

enum { IDLE_BYTES = 8 << 20 }; /* larger scratch is not kept */

void put_gate_init(struct put_gate *g, const struct store_options *opt,
                   struct store_stats *stats, pthread_mutex_t *stats_lock,
                   put_queue *queue)
{
    *g = (struct put_gate){
        .opt = opt, .stats = stats, .stats_lock = stats_lock, .queue = queue};
    pthread_mutex_init(&g->lock, NULL);
}

void put_gate_release(struct put_gate *g)
{
    while (g->scratches) {
        struct scratch *c = g->scratches;

        g->scratches = c->next;
        scratch_free(c);
    }
    pthread_mutex_destroy(&g->lock);
}

static struct scratch *take_scratch(struct put_gate *g)
{
    struct scratch *c;

    pthread_mutex_lock(&g->lock);
    c = g->scratches;
    if (c)
        g->scratches = c->next;
    pthread_mutex_unlock(&g->lock);
    return c ? c : scratch_new();
}

static void give_scratch(struct put_gate *g, struct scratch *c)
{
    bool was_large = c->is_large;

    profile_free(c->model);
    c->model = NULL;
    c->is_large = false;
    if (was_large || c->in.inflated.cap > IDLE_BYTES ||
        c->in.stack.cap * sizeof(*c->in.stack.v) > IDLE_BYTES) {
        scratch_free(c);
        if (was_large)
            atomic_fetch_sub(&g->large_puts, 1);
        return;
    }
    pthread_mutex_lock(&g->lock);
    c->next = g->scratches;
    g->scratches = c;
    pthread_mutex_unlock(&g->lock);
}

/* Room in the queue is taken first, so that a store that cannot keep up
 * refuses before it works. */
static bool enter(struct put_gate *g, size_t bytes)
{
    bool ok;

    pthread_mutex_lock(&g->lock);
    ok = g->queued < g->opt->queue_profiles &&
         (g->queued == 0 || g->queued_bytes + bytes <= g->opt->queue_bytes);
    if (ok) {
        g->queued++;
        g->queued_bytes += bytes;
    }
    pthread_mutex_unlock(&g->lock);
    return ok;
}

void put_gate_leave(struct put_gate *g, size_t bytes)
{
    pthread_mutex_lock(&g->lock);
    g->queued--;
    g->queued_bytes -= bytes;
    pthread_mutex_unlock(&g->lock);
}

size_t put_gate_queued(struct put_gate *g)
{
    size_t n;

    pthread_mutex_lock(&g->lock);
    n = g->queued;
    pthread_mutex_unlock(&g->lock);
    return n;
}

static enum store_status read_and_queue(struct put_gate *g, struct store *s,
                                        struct put_ready *r, struct error *err)
{
    struct put_bounds bounds = {g->opt, &g->large_puts};
    const struct store_put *put = r->put;
    enum store_status status =
        put->is_opaque ? STORE_OK : put_read(&bounds, put, r->c, err);

    if (status != STORE_OK)
        return status;
    if (!put_sort_labels(r->c, put)) {
        error_set(err, "out of memory");
        return STORE_FAILED;
    }
    r->receipt.id = put->id ? *put->id : store_id_make(put_now(g->opt));
    r->receipt.created_at_ns = put_created_at(&bounds, put, &r->c->in);
    return g->queue(s, r, err);
}

static enum store_status pass_once(struct put_gate *g, struct store *s,
                                   struct put_ready *r, struct error *err)
{
    struct put_bounds bounds = {g->opt, &g->large_puts};
    size_t bytes = r->put->bytes.n;
    enum store_status status = put_check(&bounds, r->put, err);

    if (status != STORE_OK)
        return status;
    if (!enter(g, bytes)) {
        error_set(err, "too many profiles wait to be written; try again");
        return STORE_BUSY;
    }
    r->c = take_scratch(g);
    if (r->c) {
        status = read_and_queue(g, s, r, err);
        give_scratch(g, r->c);
    } else {
        error_set(err, "out of memory");
        status = STORE_FAILED;
    }
    if (status != STORE_OK)
        put_gate_leave(g, bytes);
    return status;
}

static void count(struct put_gate *g, enum store_status status, size_t n)
{
    pthread_mutex_lock(g->stats_lock);
    g->stats->puts += status == STORE_OK;
    g->stats->posted_bytes += status == STORE_OK ? n : 0;
    g->stats->busy += status == STORE_BUSY;
    g->stats->failed += status == STORE_FAILED;
    g->stats->rejected += status == STORE_INVALID || status == STORE_TOO_LARGE;
    pthread_mutex_unlock(g->stats_lock);
}

static bool note_found(void *arg, const struct store_profile *p)
{
    struct store_receipt *receipt = arg;

    receipt->id = p->id;
    receipt->created_at_ns = p->created_at_ns;
    receipt->was_there = true;
    return true;
}

enum store_status put_gate_pass(struct put_gate *g, struct store *s,
                                const struct store_put *put, store_done *done,
                                void *arg, struct error *err)
{
    struct put_ready r = {.put = put, .done = done, .arg = arg};
    enum store_status status;

    if (put->id) {
        struct store_receipt receipt = {0};

        status = store_describe(s, put->id, note_found, &receipt, err);
        if (status == STORE_OK)
            done(arg, STORE_OK, &receipt, NULL);
        if (status != STORE_NOT_FOUND)
            return status;
    }
    status = pass_once(g, s, &r, err);
    count(g, status, put->bytes.n);
    return status;
}
