/*
 * The life of a connection, and the requests that arrive on it; replies are in
 * connection_reply.c.  The event thread reads every connection through one
 * block that it owns, so an idle or slow client holds no buffer of that size;
 * bodies with a Content-Length are received directly into place.
 */
#include "http/server/connection.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/own_fd.h"

/* A connection that has cost this much has done the expensive part of its
 * handshake: a signature takes several times as long. */
#define EXPENSIVE_STEP_NS 200000

#define MAX_NAMES_BYTES ((size_t)16 << 10) /* in a client's certificate */
#define MAX_OUT_HEAD    ((size_t)64 << 10)
#define TLS_HANDSHAKE   0x16 /* the first byte of a client */

struct connection *connection_new(int fd, const struct http_limits *limits)
{
    struct connection *c = calloc(1, sizeof(*c));

    if (!c)
        return NULL;
    c->fd = fd;
    c->is_fresh = true;
    c->in = BUF_INIT(limits->head_bytes + CONNECTION_BLOCK_BYTES);
    c->next_in = BUF_INIT(CONNECTION_BLOCK_BYTES);
    c->out_head = BUF_INIT(MAX_OUT_HEAD);
    c->out_body = BUF_INIT(limits->reply_bytes);
    c->since_ns = clock_monotonic_ns();
    connection_set_deadline(c, limits->head_timeout_ns);
    return c;
}

void connection_free(struct connection *c)
{
    tls_free(c->tls);
    own_fd_close(c->fd);
    buf_release(&c->client.names);
    buf_release(&c->in);
    buf_release(&c->next_in);
    buf_release(&c->out_head);
    buf_release(&c->out_body);
    job_free(c->job);
    free(c);
}

void connection_count(struct connection *c, struct connection_context *context)
{
    size_t request = c->in.cap + c->next_in.cap +
                     (c->job ? sizeof(*c->job) + c->job->received.cap : 0);
    size_t reply = c->out_head.cap + c->out_body.cap;

    assert(context->request_memory >= c->request_memory);
    assert(context->reply_memory >= c->reply_memory);
    context->request_memory += request - c->request_memory;
    context->reply_memory += reply - c->reply_memory;
    c->request_memory = request;
    c->reply_memory = reply;
}

bool connection_is_shaking_hands(const struct connection *c)
{
    return c->tls_server && c->cpu_ns < EXPENSIVE_STEP_NS &&
           (c->is_fresh || (c->tls && !tls_is_established(c->tls)));
}

bool connection_is_in_pool(const struct connection *c)
{
    return c->job && !c->is_done &&
           (c->state == CONNECTION_HANDLING ||
            c->state == CONNECTION_STREAMING);
}

bool connection_has_output(const struct connection *c)
{
    return c->written < c->out_head.len + c->out_body.len;
}

bool connection_is_idle(const struct connection *c)
{
    return !c->job && c->in.len == c->in_start;
}

double connection_body_hold(const struct connection *c, int64_t now_ns)
{
    if (c->state != CONNECTION_READING || !c->job)
        return -1;
    return (double)c->job->received.cap * (double)(now_ns - c->body_start_ns);
}

uint32_t connection_events(const struct connection *c)
{
    bool has_output = connection_has_output(c);
    uint32_t wanted =
        c->state == CONNECTION_WRITING || has_output ? EPOLLOUT : EPOLLIN;

    if (c->state == CONNECTION_HANDLING ||
        (c->state == CONNECTION_STREAMING && !has_output))
        return EPOLLRDHUP;
    if (c->tls && c->state != CONNECTION_LINGERING)
        wanted = tls_wants(c->tls) == TLS_WANTS_WRITE ? EPOLLOUT : EPOLLIN;
    return wanted == EPOLLIN ? EPOLLIN | EPOLLRDHUP : EPOLLOUT;
}

/* --- requests ------------------------------------------------------------- */

/* Bytes from and to the client, encrypted or not; results as of recv. */
static ssize_t receive(struct connection *c, void *to, size_t n)
{
    return c->tls ? tls_read(c->tls, to, n) : recv(c->fd, to, n, 0);
}

static ssize_t transmit(struct connection *c, const void *from, size_t n)
{
    return c->tls ? tls_write(c->tls, from, n)
                  : send(c->fd, from, n, MSG_NOSIGNAL);
}

static void say_continue(struct connection *c)
{
    static const char words[] = "HTTP/1.1 100 Continue\r\n\r\n";

    /* 25 bytes into an empty socket buffer: if they do not fit, the client
     * sends its body after its own patience. */
    (void)!transmit(c, words, sizeof(words) - 1);
}

/* Makes the job of a request whose head is in[in_start .. + head_bytes). */
static enum connection_next take_head(struct connection *c, size_t head_bytes,
                                      struct connection_context *context)
{
    struct str head = str_of(c->in.data + c->in_start, head_bytes);
    struct http_request request;
    size_t used = 0;
    int status = 0;
    enum http_parsed parsed =
        http_parse_head(head, head_bytes + 1, &request, &used, &status);

    assert(parsed != HTTP_INCOMPLETE);
    if (parsed == HTTP_MALFORMED) {
        connection_refuse(c, status, context);
        return connection_write(c, context);
    }
    assert(used == head_bytes);
    /* The CA has changed since the client's certificate was checked: it has
     * to come again. */
    if (c->tls && c->tls_version != tls_server_version(c->tls_server))
        return CONNECTION_CLOSE;
    if (c->tls && !c->client.has_certificate && c->client.names.max == 0) {
        c->client.names = BUF_INIT(MAX_NAMES_BYTES);
        c->client.has_certificate = tls_client_names(c->tls, &c->client.names);
    }
    c->keep_alive = request.keep_alive;
    c->in_used = c->in_start + head_bytes;
    c->chunks = (struct http_chunks){0};
    c->job = job_new(c, &c->client, &request, context->limits);
    return c->job ? CONNECTION_ADMIT : CONNECTION_CLOSE;
}

static enum connection_next look_for_head(struct connection *c,
                                          struct connection_context *context)
{
    struct str bytes = str_skip(buf_str(&c->in), c->in_start);
    int status = 0;

    if (bytes.n == 0)
        return CONNECTION_WAIT;
    switch (
        http_scan_head(&c->scan, bytes, context->limits->head_bytes, &status)) {
    case HTTP_COMPLETE:
        return take_head(c, c->scan.at, context);
    case HTTP_MALFORMED:
        connection_refuse(c, status, context);
        return connection_write(c, context);
    case HTTP_INCOMPLETE:
        break;
    }
    return CONNECTION_WAIT;
}

static enum connection_next request_is_complete(struct connection *c)
{
    struct job *job = c->job;

    job->request.body = buf_str(&job->received);
    c->state = CONNECTION_HANDLING;
    return CONNECTION_HANDLE;
}

/* A client that keeps sending is waited for. */
static void extend_body_deadline(struct connection *c,
                                 const struct http_limits *limits)
{
    int64_t per_byte =
        limits->body_rate_bytes ? SECOND / (int64_t)limits->body_rate_bytes : 0;

    c->deadline_ns = c->body_start_ns + limits->body_timeout_ns +
                     (int64_t)c->job->received.len * per_byte;
}

/* How much the body's buffer will grow for n more bytes. */
static size_t growth(const struct buf *b, size_t n)
{
    size_t need = b->len + n;

    return need <= b->cap ? 0 : need + b->cap / 2 - b->cap;
}

static bool has_room(const struct connection *c, size_t n,
                     const struct connection_context *context)
{
    return context->request_memory + growth(&c->job->received, n) <=
           context->limits->request_memory_bytes;
}

/* Takes what belongs to the body off the front of *bytes. */
static enum connection_next take_body(struct connection *c, struct str *bytes,
                                      struct connection_context *context)
{
    struct job *job = c->job;
    uint64_t left = job->request.body_bytes - job->received.len;
    enum http_parsed parsed = HTTP_COMPLETE;
    int status = 0;

    if (job->request.chunked) {
        parsed = http_chunks_decode(&c->chunks, bytes, job->x.max_body,
                                    &job->received, &status);
    } else {
        size_t n = bytes->n < left ? bytes->n : (size_t)left;

        buf_add(&job->received, str_first(*bytes, n));
        *bytes = str_skip(*bytes, n);
        if (n < left)
            parsed = HTTP_INCOMPLETE;
    }
    if (parsed == HTTP_MALFORMED) {
        connection_refuse(c, status, context);
        return connection_write(c, context);
    }
    if (!buf_ok(&job->received))
        return CONNECTION_CLOSE;
    if (parsed == HTTP_COMPLETE)
        return request_is_complete(c);
    extend_body_deadline(c, context->limits);
    return CONNECTION_WAIT;
}

/* The part of the body that was read together with the head. */
static enum connection_next
take_body_from_input(struct connection *c, struct connection_context *context)
{
    struct str rest = str_skip(buf_str(&c->in), c->in_used);
    size_t before = rest.n;
    enum connection_next next;

    if (!has_room(c, rest.n, context))
        return CONNECTION_NO_ROOM;
    next = take_body(c, &rest, context);
    c->in_used += before - rest.n;
    return next;
}

enum connection_next connection_begin_body(struct connection *c,
                                           struct connection_context *context)
{
    struct job *job = c->job;
    enum connection_next next;

    c->state = CONNECTION_READING;
    c->is_done = false;
    job->received.max = job->x.max_body;
    if (job->request.body_bytes > job->x.max_body) {
        connection_refuse(c, 413, context);
        return connection_write(c, context);
    }
    if (!http_request_has_body(&job->request))
        return request_is_complete(c);
    c->body_start_ns = clock_monotonic_ns();
    extend_body_deadline(c, context->limits);
    next = take_body_from_input(c, context);
    /* A body that was refused has no job any more. */
    if (next == CONNECTION_WAIT && c->job && c->job->request.expects_100)
        say_continue(c);
    return next;
}

void connection_drop_request(struct connection *c)
{
    c->in_start = c->in_used;
    if (c->in_start == c->in.len) {
        buf_clear(&c->in);
        c->in_start = 0;
        if (c->next_in.len) {
            struct buf read = c->next_in;

            c->next_in = c->in;
            c->in = read;
            c->in.max = c->next_in.max;
            c->next_in.max = CONNECTION_BLOCK_BYTES;
        }
    }
    assert(c->next_in.len == 0);
    if (c->in.len == 0 && c->in.cap > CONNECTION_KEEP_BYTES)
        buf_release(&c->in);
    if (c->next_in.cap > CONNECTION_KEEP_BYTES)
        buf_release(&c->next_in);
    c->in_used = c->in_start;
    c->scan = (struct http_head_scan){0};
}

/* Room for more behind what is left of `in`. */
static void compact_input(struct connection *c)
{
    if (c->in_start == 0)
        return;
    memmove(c->in.data, c->in.data + c->in_start, c->in.len - c->in_start);
    c->in.len -= c->in_start;
    c->in_start = c->in_used = 0;
}

/* Bytes of the block that was just read. */
static enum connection_next take_block(struct connection *c, struct str bytes,
                                       struct connection_context *context)
{
    enum connection_next next;

    if (!c->job) {
        if (c->in.len == c->in_start)
            connection_set_deadline(c, context->limits->head_timeout_ns);
        compact_input(c);
        buf_add(&c->in, bytes);
        return buf_ok(&c->in) ? look_for_head(c, context) : CONNECTION_CLOSE;
    }
    assert(c->in_used == c->in.len && c->next_in.len == 0);
    next = take_body(c, &bytes, context);
    if (next == CONNECTION_HANDLE)
        buf_add(&c->next_in, bytes);
    return buf_ok(&c->next_in) ? next : CONNECTION_CLOSE;
}

/* A body of known length goes straight into its buffer. */
static char *place_in_body(struct connection *c, size_t *n)
{
    struct job *job = c->job;
    uint64_t left;

    if (!job || job->request.chunked)
        return NULL;
    left = job->request.body_bytes - job->received.len;
    if (left < *n)
        *n = (size_t)left;
    return buf_reserve(&job->received, *n);
}

static enum connection_next read_some(struct connection *c,
                                      struct connection_context *context)
{
    size_t room = CONNECTION_BLOCK_BYTES;
    char *direct;
    ssize_t n;

    if (c->job && !has_room(c, room, context))
        return CONNECTION_NO_ROOM;
    direct = place_in_body(c, &room);
    n = receive(c, direct ? direct : context->block, room);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return CONNECTION_WAIT;
    if (n <= 0)
        return CONNECTION_CLOSE;
    if (!direct)
        return take_block(c, str_of(context->block, (size_t)n), context);
    c->job->received.len += (size_t)n;
    return take_body(c, &(struct str){NULL, 0}, context);
}

static enum connection_next linger(struct connection *c,
                                   struct connection_context *context)
{
    ssize_t n = recv(c->fd, context->block, CONNECTION_BLOCK_BYTES, 0);

    return n > 0 || (n < 0 && errno == EAGAIN) ? CONNECTION_WAIT
                                               : CONNECTION_CLOSE;
}

/* The first byte of a client of a TLS listener: starts the session. */
static enum connection_next start_tls(struct connection *c,
                                      struct connection_context *context)
{
    char first;
    ssize_t n = recv(c->fd, &first, 1, MSG_PEEK);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return CONNECTION_WAIT;
    if (n <= 0)
        return CONNECTION_CLOSE;
    c->is_fresh = false;
    if (first == TLS_HANDSHAKE) {
        c->tls = tls_accept(c->tls_server, c->fd);
        c->tls_version = tls_server_version(c->tls_server);
        c->client.is_tls = true;
        return c->tls ? CONNECTION_AGAIN : CONNECTION_CLOSE;
    }
    connection_refuse_with(
        c, 400, "Client sent an HTTP request to an HTTPS server.", context);
    return connection_write(c, context);
}

enum connection_next connection_read(struct connection *c,
                                     struct connection_context *context)
{
    enum connection_next next;

    if (c->state == CONNECTION_LINGERING)
        return linger(c, context);
    assert(c->state == CONNECTION_READING);
    if (c->tls_server && c->is_fresh) {
        next = start_tls(c, context);
        if (next != CONNECTION_AGAIN)
            return next;
    }
    next = read_some(c, context);
    c->is_fresh = c->is_fresh && next == CONNECTION_WAIT && c->in.len == 0;
    /* The socket does not tell of what TLS has read already. */
    if (next == CONNECTION_WAIT && c->state == CONNECTION_READING && c->tls &&
        tls_has_input(c->tls))
        return CONNECTION_AGAIN;
    return next;
}

enum connection_next connection_go_on(struct connection *c,
                                      struct connection_context *context)
{
    enum connection_next next = CONNECTION_WAIT;

    assert(c->state == CONNECTION_READING);
    if (!c->job)
        next = look_for_head(c, context);
    else if (c->in_used < c->in.len)
        next = take_body_from_input(c, context);
    if (next == CONNECTION_WAIT && c->state == CONNECTION_READING)
        next = connection_read(c, context);
    return next;
}
