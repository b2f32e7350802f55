/*
 * The replies of a connection: whole ones, refusals and streams.  One goes out
 * with one sendmsg() of head and body; the body is the handler's buffer.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "http/server/connection.h"

#define LINGER_NS  (2 * SECOND)
#define SMALL_BODY ((size_t)8 << 10) /* copied behind its head */

static void start_writing(struct connection *c,
                          const struct connection_context *context)
{
    c->state = CONNECTION_WRITING;
    c->written = 0;
    connection_set_deadline(c, context->limits->write_timeout_ns);
}

static void drop_job(struct connection *c)
{
    job_free(c->job);
    c->job = NULL;
    c->is_done = false;
}

void connection_refuse_with(struct connection *c, int status, const char *words,
                            const struct connection_context *context)
{
    const char *headers = status == 503
                              ? "Retry-After: 1\r\n"
                                "Content-Type: text/plain; charset=utf-8\r\n"
                                "X-Content-Type-Options: nosniff\r\n"
                              : "Content-Type: text/plain; charset=utf-8\r\n"
                                "X-Content-Type-Options: nosniff\r\n";

    drop_job(c);
    c->keep_alive = false;
    buf_clear(&c->out_head);
    buf_release(&c->out_body);
    http_write_head(&c->out_head,
                    &(struct http_reply_head){.status = status,
                                              .headers = str_from(headers),
                                              .body_bytes = strlen(words) + 1});
    buf_addf(&c->out_head, "%s\n", words);
    start_writing(c, context);
}

void connection_refuse(struct connection *c, int status,
                       struct connection_context *context)
{
    connection_refuse_with(c, status, http_status_words(status), context);
}

/* The handler's buffer becomes the connection's. */
static void take_reply_body(struct connection *c, struct buf *body)
{
    assert(c->out_body.len == 0);
    buf_release(&c->out_body);
    c->out_body = *body;
    *body = BUF_INIT(body->max);
    if (c->out_body.len <= SMALL_BODY) {
        buf_add(&c->out_head, buf_str(&c->out_body));
        buf_release(&c->out_body);
    }
}

void connection_finish_job(struct connection *c,
                           struct connection_context *context)
{
    struct job *job = c->job;
    struct http_exchange *x = &job->x;
    bool head_only = str_eq(job->request.method, STR("HEAD"));
    struct http_reply_head head = {.status = x->status,
                                   .headers = buf_str(&x->headers),
                                   .body_bytes = x->body.len,
                                   .keep_alive = c->keep_alive};

    assert(!job->is_streamed);
    if (context->is_closing || x->closes)
        c->keep_alive = head.keep_alive = false;
    if (!buf_ok(&x->headers) || !buf_ok(&x->body)) {
        connection_refuse(c, 500, context);
        return;
    }
    if (context->reply_memory + x->body.cap >
        context->limits->reply_memory_bytes) {
        connection_refuse(c, 503, context);
        return;
    }
    http_write_head(&c->out_head, &head);
    if (!head_only && x->status != 204 && x->status != 304)
        take_reply_body(c, &x->body);
    start_writing(c, context);
    drop_job(c);
}

void connection_finish_early(struct connection *c,
                             struct connection_context *context)
{
    if (http_request_has_body(&c->job->request))
        c->keep_alive = false;
    connection_finish_job(c, context);
}

static void start_stream(struct connection *c)
{
    const struct job *job = c->job;
    bool chunked = job->request.minor >= 1;

    if (!chunked)
        c->keep_alive = false;
    http_write_head(&c->out_head, &(struct http_reply_head){
                                      .status = job->x.status,
                                      .headers = buf_str(&job->x.headers),
                                      .framing = chunked ? HTTP_FRAMING_CHUNKED
                                                         : HTTP_FRAMING_CLOSE,
                                      .keep_alive = c->keep_alive,
                                  });
    c->piece_is_open = false;
}

/* A chunk's final CRLF is sent with the next chunk's head, so that a piece
 * is a head and a body like any other reply. */
void connection_send_piece(struct connection *c, struct buf *piece,
                           struct connection_context *context)
{
    bool is_first = c->state == CONNECTION_HANDLING;

    assert(is_first || c->state == CONNECTION_STREAMING);
    assert(c->written == c->out_head.len + c->out_body.len);
    buf_clear(&c->out_head);
    buf_release(&c->out_body);
    if (is_first)
        start_stream(c);
    if (str_eq(c->job->request.method, STR("HEAD"))) {
        buf_release(piece);
    } else if (piece->len > 0) {
        if (c->job->request.minor >= 1)
            buf_addf(&c->out_head, "%s%zx\r\n", c->piece_is_open ? "\r\n" : "",
                     piece->len);
        c->out_body = *piece;
        *piece = BUF_INIT(piece->max);
        c->piece_is_open = true;
    }
    start_writing(c, context);
    c->state = CONNECTION_STREAMING;
}

void connection_end_stream(struct connection *c,
                           struct connection_context *context)
{
    bool has_end_mark = c->job->request.minor >= 1 &&
                        !str_eq(c->job->request.method, STR("HEAD"));

    assert(c->state == CONNECTION_STREAMING);
    assert(c->written == c->out_head.len + c->out_body.len);
    buf_clear(&c->out_head);
    buf_release(&c->out_body);
    if (has_end_mark)
        buf_add(&c->out_head,
                c->piece_is_open ? STR("\r\n0\r\n\r\n") : STR("0\r\n\r\n"));
    drop_job(c);
    start_writing(c, context);
}

/* All is written: the next request, or the end. */
static enum connection_next after_reply(struct connection *c,
                                        struct connection_context *context)
{
    const struct http_limits *limits = context->limits;
    bool has_input;

    buf_clear(&c->out_head);
    buf_release(&c->out_body);
    c->written = 0;
    c->answered++;
    c->since_ns = clock_monotonic_ns();
    if (!c->keep_alive) {
        /* Closing with unread input would reset the connection and could
         * take the reply away from the client. */
        if (c->tls)
            tls_say_goodbye(c->tls);
        shutdown(c->fd, SHUT_WR);
        c->state = CONNECTION_LINGERING;
        connection_set_deadline(c, LINGER_NS);
        return CONNECTION_WAIT;
    }
    if (c->out_head.cap > CONNECTION_KEEP_BYTES)
        buf_release(&c->out_head);
    connection_drop_request(c);
    c->state = CONNECTION_READING;
    has_input = c->in.len > 0;
    connection_set_deadline(c, has_input ? limits->head_timeout_ns
                                         : limits->idle_timeout_ns);
    return has_input || (c->tls && tls_has_input(c->tls)) ? CONNECTION_AGAIN
                                                          : CONNECTION_WAIT;
}

/* Sends from `written` on: the rest of the head, then of the body. */
static ssize_t transmit_output(struct connection *c)
{
    struct str head = str_skip(buf_str(&c->out_head), c->written);
    size_t of_body =
        c->written > c->out_head.len ? c->written - c->out_head.len : 0;
    struct str body = str_skip(buf_str(&c->out_body), of_body);
    struct iovec parts[2] = {{(void *)head.s, head.n},
                             {(void *)body.s, body.n}};
    struct msghdr message = {.msg_iov = head.n ? parts : parts + 1,
                             .msg_iovlen = head.n ? 2 : 1};

    if (c->tls)
        return head.n ? tls_write(c->tls, head.s, head.n)
                      : tls_write(c->tls, body.s, body.n);
    return sendmsg(c->fd, &message, MSG_NOSIGNAL);
}

enum connection_next connection_write(struct connection *c,
                                      struct connection_context *context)
{
    if (!buf_ok(&c->out_head) || !buf_ok(&c->out_body))
        return CONNECTION_CLOSE;
    while (c->written < c->out_head.len + c->out_body.len) {
        ssize_t n = transmit_output(c);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return CONNECTION_WAIT;
        if (n <= 0)
            return CONNECTION_CLOSE;
        c->written += (size_t)n;
        connection_set_deadline(c, context->limits->write_timeout_ns);
    }
    if (c->state == CONNECTION_STREAMING)
        return CONNECTION_SENT;
    return after_reply(c, context);
}
