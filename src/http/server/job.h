#ifndef HTTP_SERVER_JOB_H
#define HTTP_SERVER_JOB_H

#include <pthread.h>

#include "http/server/exchange.h"
#include "http/server/limits.h"

/*
 * A request from the moment its head is complete until its reply is on its
 * way: the exchange, and what the server needs to know about it.
 *
 * The event thread creates and frees jobs.  While one is queued, with a handler
 * or deferred, the pool's lock protects the members marked (P); the rest
 * belongs to the holder of the exchange.
 */
struct pool;
struct connection;

enum job_task {
    JOB_ADMIT,  /* ask the admission hook, which may wait */
    JOB_HANDLE, /* run the handler */
};

struct job {
    struct http_exchange x; /* first: a handler's exchange is its job */
    struct http_request request;
    struct buf received; /* the request's body */
    struct pool *pool;
    struct connection *connection;
    struct job *next; /* in the pool's queue, or among the done ones (P) */
    enum job_task task;
    bool is_admitted; /* what JOB_ADMIT found out */

    pthread_cond_t changed; /* gone, stopping, or less unsent (P) */
    bool gone;              /* the client has disconnected (P) */
    bool in_worker;         /* (P) */
    bool is_deferred;       /* (P) */
    bool is_finished;       /* (P) */
    struct http_deferral deferral;

    /* A streamed reply. */
    struct buf unsent; /* pieces for the event thread to send (P) */
    bool is_streamed;  /* status and headers are on their way (P) */
    bool is_broken;    /* the reply failed after its first piece (P) */
    bool in_streams;   /* the event thread will look at it (P) */
    struct job *next_stream;
};

/* NULL: no memory.  The request's views stay the caller's. */
struct job *job_new(struct connection *c, const struct http_client *client,
                    const struct http_request *request,
                    const struct http_limits *limits);
void job_free(struct job *job); /* calls the deferral's release */

#endif
