#ifndef STORE_PUT_GATE_H
#define STORE_PUT_GATE_H

#include <pthread.h>

#include "store/put_read.h"

/*
 * The first steps of a put, for any engine: a profile whose id exists is not
 * stored again, space in the queue is reserved, the bytes are read.  Then the
 * engine queues it, and calls put_gate_leave() when it has finished.
 */

/* A put that has been read.  Labels are sorted, in c->labels. */
struct put_ready {
    const struct store_put *put;
    struct scratch *c;
    struct store_receipt receipt;
    store_done *done;
    void *arg;
};

/* Takes it over if it returns STORE_OK. */
typedef enum store_status put_queue(struct store *s, const struct put_ready *r,
                                    struct error *err);

struct put_gate {
    const struct store_options *opt;
    struct store_stats *stats; /* the engine's, under its lock */
    pthread_mutex_t *stats_lock;
    put_queue *queue;

    pthread_mutex_t lock;
    struct scratch *scratches;   /* idle ones */
    size_t queued, queued_bytes; /* and those on their way into the queue */
    atomic_int large_puts;       /* being read now */
};

void put_gate_init(struct put_gate *g, const struct store_options *opt,
                   struct store_stats *stats, pthread_mutex_t *stats_lock,
                   put_queue *queue);
void put_gate_release(struct put_gate *g);

enum store_status put_gate_pass(struct put_gate *g, struct store *s,
                                const struct store_put *put, store_done *done,
                                void *arg, struct error *err);
void put_gate_leave(struct put_gate *g, size_t bytes);
size_t put_gate_queued(struct put_gate *g);

#endif
