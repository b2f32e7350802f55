#include "http/connection.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

#define READ_STEP     4096
#define LINGER_NS     ((int64_t)2000000000)
#define KEEP_CAPACITY ((size_t)64 << 10)

#define MAX_NAMES_BYTES ((size_t)16 << 10) /* in a client's certificate */
#define TLS_HANDSHAKE   0x16               /* the first byte of a client */

static void set_deadline(struct connection *c, int64_t ns)
{
    c->deadline_ns = clock_monotonic_ns() + ns;
}

void job_free(struct job *job)
{
    if (!job)
        return;
    buf_release(&job->x.headers);
    buf_release(&job->x.body);
    pthread_cond_destroy(&job->changed);
    free(job);
}

void connection_free(struct connection *c)
{
    tls_free(c->tls);
    close(c->fd);
    buf_release(&c->client.names);
    buf_release(&c->in);
    buf_release(&c->out);
    job_free(c->job);
    free(c);
}

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

uint32_t connection_events(const struct connection *c)
{
    uint32_t wanted = c->state == CONNECTION_WRITING ? EPOLLOUT : EPOLLIN;

    if (c->state == CONNECTION_HANDLING)
        return EPOLLRDHUP;
    if (c->tls && c->state != CONNECTION_LINGERING)
        wanted = tls_wants(c->tls) == TLS_WANTS_WRITE ? EPOLLOUT : EPOLLIN;
    return wanted == EPOLLIN ? EPOLLIN | EPOLLRDHUP : EPOLLOUT;
}

static void start_writing(struct connection *c,
                          const struct http_limits *limits)
{
    c->state = CONNECTION_WRITING;
    c->written = 0;
    set_deadline(c, limits->write_timeout_ns);
}

static void refuse(struct connection *c, int status, const char *words,
                   const struct http_limits *limits)
{
    c->keep_alive = false;
    http_write_head(&c->out, status,
                    STR("Content-Type: text/plain; charset=utf-8\r\n"
                        "X-Content-Type-Options: nosniff\r\n"),
                    strlen(words) + 1, false);
    buf_addf(&c->out, "%s\n", words);
    start_writing(c, limits);
}

void connection_refuse(struct connection *c, int status,
                       const struct http_limits *limits)
{
    refuse(c, status, http_status_words(status), limits);
}

void connection_finish_job(struct connection *c,
                           const struct http_limits *limits)
{
    struct job *job = c->job;
    struct http_exchange *x = &job->x;
    bool head_only = str_eq(job->request.method, STR("HEAD"));

    c->job = NULL;
    if (!buf_ok(&x->headers) || !buf_ok(&x->body)) {
        connection_refuse(c, 500, limits);
    } else {
        http_write_head(&c->out, x->status, buf_str(&x->headers), x->body.len,
                        c->keep_alive);
        if (!head_only)
            buf_add(&c->out, buf_str(&x->body));
        start_writing(c, limits);
    }
    job_free(job);
}

static struct job *new_job(struct connection *c,
                           const struct http_request *request,
                           const struct http_limits *limits)
{
    struct job *job = calloc(1, sizeof(*job));
    pthread_condattr_t attr;

    if (!job)
        return NULL;
    job->request = *request;
    job->connection = c;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&job->changed, &attr);
    pthread_condattr_destroy(&attr);
    job->x = (struct http_exchange){
        .request = &job->request,
        .client = &c->client,
        .status = 200,
        .headers = BUF_INIT((size_t)16 << 10),
        .body = BUF_INIT(limits->reply_bytes),
    };
    return job;
}

/* Drops the request that was answered; the next one may be behind it. */
static void drop_request(struct connection *c, size_t n)
{
    memmove(c->in.data, c->in.data + n, c->in.len - n);
    c->in.len -= n;
    c->head_bytes = 0;
}

/*
 * The body behind the head.  `in` keeps head and body until the reply is
 * written, because the request's views point there; what follows is the next
 * request.
 */
static enum http_parsed take_body(struct connection *c, struct http_request *r,
                                  const struct http_limits *limits,
                                  size_t *whole, int *status)
{
    char *body = c->in.data + c->head_bytes;
    size_t n = c->in.len - c->head_bytes;
    enum http_parsed parsed;
    size_t used, body_n;

    if (r->chunked) {
        parsed = http_unpack_chunks(body, n, limits->body_bytes, &body_n, &used,
                                    status);
        if (parsed != HTTP_COMPLETE)
            return parsed;
        r->body = str_of(body, body_n);
        *whole = c->head_bytes + used;
        return HTTP_COMPLETE;
    }
    *status = 413;
    if (r->body_bytes > limits->body_bytes)
        return HTTP_MALFORMED;
    if (n < r->body_bytes)
        return HTTP_INCOMPLETE;
    r->body = str_of(body, r->body_bytes);
    *whole = c->head_bytes + r->body_bytes;
    return HTTP_COMPLETE;
}

static void say_continue(struct connection *c)
{
    static const char words[] = "HTTP/1.1 100 Continue\r\n\r\n";

    /* 25 bytes into an empty socket buffer: if they do not fit, the client
     * sends its body after its own patience. */
    (void)!transmit(c, words, sizeof(words) - 1);
}

/* Is there a whole request in `in`? */
static enum connection_next look_for_request(struct connection *c,
                                             const struct http_limits *limits)
{
    struct http_request request;
    bool head_was_known = c->head_bytes != 0;
    size_t whole = 0, head;
    int status;
    enum http_parsed parsed = http_parse_head(
        buf_str(&c->in), limits->head_bytes, &request, &head, &status);

    if (parsed == HTTP_COMPLETE) {
        c->head_bytes = head;
        parsed = take_body(c, &request, limits, &whole, &status);
        if (parsed == HTTP_INCOMPLETE && !head_was_known) {
            set_deadline(c, limits->body_timeout_ns);
            if (request.expects_100)
                say_continue(c);
        }
    }
    if (parsed == HTTP_INCOMPLETE)
        return CONNECTION_WAIT;
    if (parsed == HTTP_MALFORMED) {
        connection_refuse(c, status, limits);
        return connection_write(c, limits);
    }
    if (c->tls && !c->client.has_certificate && c->client.names.max == 0) {
        c->client.names = BUF_INIT(MAX_NAMES_BYTES);
        c->client.has_certificate = tls_client_names(c->tls, &c->client.names);
    }
    c->keep_alive = request.keep_alive;
    c->head_bytes = whole; /* what drop_request takes away */
    c->job = new_job(c, &request, limits);
    if (!c->job)
        return CONNECTION_CLOSE;
    c->state = CONNECTION_HANDLING;
    return CONNECTION_HANDLE;
}

static enum connection_next linger(struct connection *c)
{
    char waste[READ_STEP];
    ssize_t n = recv(c->fd, waste, sizeof(waste), 0);

    return n > 0 || (n < 0 && errno == EAGAIN) ? CONNECTION_WAIT
                                               : CONNECTION_CLOSE;
}

/* Somebody who speaks plain HTTP where TLS is spoken is told so. */
static bool speaks_plainly(struct connection *c)
{
    char first;

    if (recv(c->fd, &first, 1, MSG_PEEK) != 1)
        return false;
    c->is_fresh = false;
    return first != TLS_HANDSHAKE;
}

static enum connection_next refuse_plain(struct connection *c,
                                         const struct http_limits *limits)
{
    tls_free(c->tls);
    c->tls = NULL;
    c->client.is_tls = false;
    refuse(c, 400, "Client sent an HTTP request to an HTTPS server.", limits);
    return connection_write(c, limits);
}

static enum connection_next read_some(struct connection *c,
                                      const struct http_limits *limits)
{
    bool was_idle = c->in.len == 0;
    char *to = buf_reserve(&c->in, READ_STEP);
    ssize_t n;

    if (!to)
        return CONNECTION_CLOSE;
    n = receive(c, to, READ_STEP);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return CONNECTION_WAIT;
    if (n <= 0)
        return CONNECTION_CLOSE;
    c->in.len += (size_t)n;
    if (was_idle)
        set_deadline(c, limits->head_timeout_ns);
    return look_for_request(c, limits);
}

enum connection_next connection_read(struct connection *c,
                                     const struct http_limits *limits)
{
    enum connection_next next;

    if (c->state == CONNECTION_LINGERING)
        return linger(c);
    if (c->tls && c->is_fresh && speaks_plainly(c))
        return refuse_plain(c, limits);
    do {
        next = read_some(c, limits);
        /* The socket does not tell of what TLS has read already. */
    } while (next == CONNECTION_WAIT && c->state == CONNECTION_READING &&
             c->tls && tls_has_input(c->tls));
    return next;
}

/* All is written: the next request, or the end. */
static enum connection_next after_reply(struct connection *c,
                                        const struct http_limits *limits)
{
    if (!c->keep_alive) {
        /* Closing with unread input would reset the connection and could
         * take the reply away from the client. */
        if (c->tls)
            tls_say_goodbye(c->tls);
        shutdown(c->fd, SHUT_WR);
        c->state = CONNECTION_LINGERING;
        set_deadline(c, LINGER_NS);
        return CONNECTION_WAIT;
    }
    if (c->out.cap > KEEP_CAPACITY)
        buf_release(&c->out);
    buf_clear(&c->out);
    drop_request(c, c->head_bytes);
    c->state = CONNECTION_READING;
    set_deadline(c,
                 c->in.len ? limits->head_timeout_ns : limits->idle_timeout_ns);
    if (c->tls && tls_has_input(c->tls))
        return connection_read(c, limits);
    return c->in.len ? look_for_request(c, limits) : CONNECTION_WAIT;
}

enum connection_next connection_write(struct connection *c,
                                      const struct http_limits *limits)
{
    if (!buf_ok(&c->out))
        return CONNECTION_CLOSE;
    while (c->written < c->out.len) {
        ssize_t n =
            transmit(c, c->out.data + c->written, c->out.len - c->written);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return CONNECTION_WAIT;
        if (n <= 0)
            return CONNECTION_CLOSE;
        c->written += (size_t)n;
        set_deadline(c, limits->write_timeout_ns);
    }
    return after_reply(c, limits);
}
