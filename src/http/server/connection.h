#ifndef HTTP_SERVER_CONNECTION_H
#define HTTP_SERVER_CONNECTION_H

#include "base/clock.h"
#include "http/server/chunks.h"
#include "http/server/exchange.h"
#include "http/server/job.h"
#include "http/server/limits.h"
#include "http/tls/tls.h"

/*
 * One client: the bytes it sends, the request they make, and the reply.
 *
 * Belongs to the server's event thread; only the job is shared, while the
 * state is CONNECTION_HANDLING or CONNECTION_STREAMING.
 *
 *     READING ──head──▶ admission ──body──▶ HANDLING ──▶ WRITING ──▶ READING
 *                                              └▶ STREAMING ─┘  └▶ LINGERING
 *
 * A head is looked for and parsed once, a body is decoded as it arrives into
 * a buffer of its own.  Bytes behind a request stay where they are until the
 * reply is written: they are the next request.
 */
enum connection_state {
    CONNECTION_READING,   /* a request head or body, or idle between two */
    CONNECTION_HANDLING,  /* the pool has the job */
    CONNECTION_STREAMING, /* … and pieces of the reply are being sent */
    CONNECTION_WRITING,
    CONNECTION_LINGERING, /* the reply is sent; discarding input until the
                             client closes */
};

#define CONNECTION_BLOCK_BYTES ((size_t)64 << 10)

struct peer;

/* What the event thread lends to every connection in turn. */
struct connection_context {
    const struct http_limits *limits;
    char *block;           /* to read into: CONNECTION_BLOCK_BYTES */
    size_t request_memory; /* that all connections use: connection_count() */
    size_t reply_memory;
    bool is_closing; /* no connection is kept after its reply */
};

struct connection {
    struct connection *next, *prev;
    struct connection *next_ready, *prev_ready; /* in a lane */
    bool is_queued;
    unsigned lane, rank;
    struct peer *peer; /* its address */
    int64_t cpu_ns;    /* that it has cost */
    bool is_trusted;   /* its last request was authenticated */
    unsigned answered; /* requests */
    uint32_t events;   /* of the socket, not yet looked at */
    uint32_t watched;  /* that epoll was asked for */
    int fd;
    /* With TLS the session is made when the first byte has arrived: many
     * connections never get so far. */
    struct tls_server *tls_server; /* NULL: plain */
    struct tls *tls;
    unsigned tls_version; /* of the CA that it was made under */
    bool is_fresh;        /* nothing was read yet */
    bool is_done;         /* the pool has given the job back */
    bool is_abandoned;    /* the client has gone while the pool had the job */
    bool has_pieces;      /* of a streamed reply, for us to send */
    bool has_more;        /* to do, without waiting for the socket */
    enum connection_state state;
    struct http_client client;

    /* The request.  Its views point into `in`, which does not change while
     * there is a job. */
    struct buf in;
    size_t in_start;    /* where the request, or the next one, starts */
    size_t in_used;     /* how far the request reaches into `in` */
    struct buf next_in; /* read while there was a job: the next request */
    struct http_head_scan scan;
    struct http_chunks chunks;
    int64_t body_start_ns;
    struct job *job; /* from the end of the head on */
    bool keep_alive;

    /* The reply: the head, then the body, which came from the handler and is
     * not copied. */
    struct buf out_head, out_body;
    size_t written;     /* of both together */
    bool piece_is_open; /* a chunk was sent without its final CRLF */
    int64_t deadline_ns;
    int64_t since_ns; /* when it connected, or was last answered */

    size_t request_memory, reply_memory; /* as counted last */
};

/* What to do with a connection after a turn. */
enum connection_next {
    CONNECTION_WAIT,    /* for the socket, as connection_events() says */
    CONNECTION_AGAIN,   /* there is more to do right away */
    CONNECTION_ADMIT,   /* a head is complete: c->job; ask for admission */
    CONNECTION_HANDLE,  /* a request is complete: c->job */
    CONNECTION_SENT,    /* the piece of a streamed reply is sent */
    CONNECTION_NO_ROOM, /* the memory for requests is used up */
    CONNECTION_CLOSE,
};

/* A new one for an accepted socket, which it owns; NULL: no memory. */
struct connection *connection_new(int fd, const struct http_limits *limits);
void connection_free(struct connection *c); /* closes the socket */

/* Which events of the socket its state waits for. */
uint32_t connection_events(const struct connection *c);

/* Reads a block at most. */
enum connection_next connection_read(struct connection *c,
                                     struct connection_context *context);
enum connection_next connection_write(struct connection *c,
                                      struct connection_context *context);

/* After CONNECTION_AGAIN: takes the next request out of bytes that were read
 * already, or reads. */
enum connection_next connection_go_on(struct connection *c,
                                      struct connection_context *context);

/* The request was admitted: its body is read, up to job->x.max_body. */
enum connection_next connection_begin_body(struct connection *c,
                                           struct connection_context *context);

/* Returns true if an expensive step of the TLS handshake is still to come. */
bool connection_is_shaking_hands(const struct connection *c);

/* Returns true if a worker has the job, or it was deferred. */
bool connection_is_in_pool(const struct connection *c);
bool connection_has_output(const struct connection *c);
bool connection_is_idle(const struct connection *c); /* between requests */

/* The handler is done: its reply is written and the job freed. */
void connection_finish_job(struct connection *c,
                           struct connection_context *context);

/* The same for a request whose body was not read: the connection ends with
 * the reply, unless there was no body. */
void connection_finish_early(struct connection *c,
                             struct connection_context *context);

/* Sends `piece` (which is taken) of a streamed reply; the first call sends
 * status and headers.  What was sent before must be written. */
void connection_send_piece(struct connection *c, struct buf *piece,
                           struct connection_context *context);
void connection_end_stream(struct connection *c,
                           struct connection_context *context);

/* A reply that the server makes itself: "503 Service Unavailable".  Frees the
 * job, if there is one. */
void connection_refuse(struct connection *c, int status,
                       struct connection_context *context);

/* Updates what the context knows of the connection's memory. */
void connection_count(struct connection *c, struct connection_context *context);

/* The memory of the body that is being received, times its age: the larger, the
 * worse the sender.  Negative while there is no body. */
double connection_body_hold(const struct connection *c, int64_t now_ns);

/*
 * For the two files of a connection alone, connection.c and
 * connection_reply.c.
 */

/* Buffers of more capacity are not kept between requests. */
#define CONNECTION_KEEP_BYTES ((size_t)4 << 10)

static inline void connection_set_deadline(struct connection *c, int64_t ns)
{
    c->deadline_ns = clock_monotonic_ns() + ns;
}

static inline bool http_request_has_body(const struct http_request *r)
{
    return r->chunked || r->body_bytes > 0;
}

/* connection_refuse() with a message of its own. */
void connection_refuse_with(struct connection *c, int status, const char *words,
                            const struct connection_context *context);

/* The reply is written: the next request may have arrived already. */
void connection_drop_request(struct connection *c);

#endif
