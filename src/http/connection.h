#ifndef HTTP_CONNECTION_H
#define HTTP_CONNECTION_H

#include <pthread.h>

#include "http/server.h"
#include "http/tls.h"

/*
 * One client: its bytes, the request they make, the reply that goes back.
 * Belongs to the server's event thread; only the job is shared with a
 * worker while the state is CONNECTION_HANDLING.
 */
enum connection_state {
    CONNECTION_READING,  /* a request head or body, or idle between two */
    CONNECTION_HANDLING, /* a worker has the job */
    CONNECTION_WRITING,
    CONNECTION_LINGERING, /* all is said; taking what the client still sends */
};

struct connection {
    struct connection *next, *prev;
    int fd;
    struct tls *tls; /* NULL: plain */
    bool is_fresh;   /* nothing was read yet */
    enum connection_state state;
    struct http_client client;

    struct buf in;     /* read, not yet used up */
    size_t head_bytes; /* of the request at the front of `in`; 0 = not known */
    bool keep_alive;
    struct job *job;

    struct buf out;
    size_t written;
    int64_t deadline_ns;
};

/* A request on its way through a worker. */
struct job {
    struct http_exchange x; /* first: a handler's exchange is its job */
    struct http_request request;
    struct pool *pool;
    struct connection *connection; /* NULL: the client has gone */
    struct job *next;
    pthread_cond_t changed; /* with the server's lock: gone, stopping */
    bool gone;
};

/* What to do with a connection after it was looked at. */
enum connection_next {
    CONNECTION_WAIT,   /* for the socket, in the direction of its state */
    CONNECTION_HANDLE, /* a request is complete: c->job holds it */
    CONNECTION_CLOSE,
};

/* Which events of the socket its state waits for. */
uint32_t connection_events(const struct connection *c);

enum connection_next connection_read(struct connection *c,
                                     const struct http_limits *limits);
enum connection_next connection_write(struct connection *c,
                                      const struct http_limits *limits);

/* The handler is done: the reply goes into `out`, the job is freed. */
void connection_finish_job(struct connection *c,
                           const struct http_limits *limits);

/* A reply that the server makes itself: "503 Service Unavailable". */
void connection_refuse(struct connection *c, int status,
                       const struct http_limits *limits);

void connection_free(struct connection *c); /* closes the socket */
void job_free(struct job *job);

#endif
