#ifndef HTTP_POOL_H
#define HTTP_POOL_H

#include <pthread.h>
#include <stdbool.h>

#include "http/budget.h"
#include "http/connection.h"

/*
 * The threads that run handlers.  They are started when there is work, and
 * end when there has been none for a while.
 *
 * The event thread adds jobs and takes them back when they are done; an
 * eventfd tells it that some are.  `lock` protects everything that changes
 * here, and each job's `gone`.
 */
struct pool {
    http_handler *handler;
    void *arg;
    void (*thread_begins)(void), (*thread_ends)(void);
    unsigned max_workers;
    int wakeup; /* of the event thread */

    pthread_mutex_t lock;
    pthread_cond_t work;  /* queue has a job, or stopping */
    pthread_cond_t quiet; /* a worker has ended */
    struct budget budget;
    struct job *queue, **queue_end;
    struct job *done;
    unsigned workers, idle_workers;
    bool stopping;
};

void pool_init(struct pool *p, const struct http_server_options *options,
               const struct http_limits *limits);
void pool_release(struct pool *p);

/* False: no thread can be had. */
bool pool_add(struct pool *p, struct job *job);

/* All that are done, linked by `next`. */
struct job *pool_take_done(struct pool *p);

/* The client has gone: ends the handler's waiting. */
void pool_abandon(struct pool *p, struct job *job);

bool pool_is_stopping(struct pool *p);
void pool_stop(struct pool *p); /* wakes the event thread, too */
void pool_wake(struct pool *p, struct job *job); /* after _stop */
void pool_join(struct pool *p); /* until the last worker ends */

#endif
