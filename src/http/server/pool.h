#ifndef HTTP_SERVER_POOL_H
#define HTTP_SERVER_POOL_H

#include <pthread.h>
#include <stdbool.h>

#include "http/server/budget.h"
#include "http/server/exchange.h"
#include "http/server/job.h"
#include "http/server/limits.h"

/*
 * The threads that run handlers.  They are started when there is work, and
 * end when there has been none for a while.
 *
 * The event thread adds jobs and takes them back when they are done; an eventfd
 * tells it that some are.  A job whose handler deferred it comes back when it
 * is finished.  `lock` protects everything that changes here, and the members
 * of each job that are marked so.
 */
struct pool_options {
    http_handler *handler;
    /* Answers JOB_ADMIT; false: the exchange holds the refusal. */
    bool (*admit)(struct http_exchange *x, void *arg);
    void *arg;
    void (*thread_begins)(void), (*thread_ends)(void); /* may be NULL */
    unsigned max_workers;
    unsigned cpu_percent; /* of all workers together; 0: no limit */
};

struct pool {
    struct pool_options o;
    int wakeup; /* of the event thread: set by the server */

    pthread_mutex_t lock;
    pthread_cond_t work;  /* queue has a job, or stopping */
    pthread_cond_t quiet; /* a worker has ended, a deferred job is finished */
    struct budget budget;
    struct job *queue, **queue_end;
    struct job *done;
    struct job *streams; /* with pieces to send, by next_stream */
    unsigned queued;     /* jobs in the queue */
    unsigned workers, idle_workers;
    unsigned deferred; /* deferred jobs that are not finished */
    bool stopping;
};

void pool_init(struct pool *p, const struct pool_options *options);
void pool_release(struct pool *p);

/* False: no thread could be started. */
bool pool_add(struct pool *p, struct job *job);

/* All that are done, linked by `next`, and all that have pieces to send,
 * linked by `next_stream`. */
void pool_collect(struct pool *p, struct job **done, struct job **streams);

/*
 * Takes the pieces that wait to be sent, for a job that was among the
 * streams.  Returns false when the reply has failed and cannot go on.
 */
bool pool_take_pieces(struct pool *p, struct job *job, struct buf *out);

/* The client has disconnected: ends the handler's waiting, calls on_gone. */
void pool_abandon(struct pool *p, struct job *job);

bool pool_is_stopping(struct pool *p);
void pool_stop(struct pool *p); /* wakes the event thread, too */
void pool_wake(struct pool *p); /* the event thread alone */
void pool_join(struct pool *p); /* until nothing is under way any more */

#endif
