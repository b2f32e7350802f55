/*
 * A blocking client with a deadline: non-blocking sockets and poll().  The
 * sockets are listed, because a child that is forked meanwhile must close its
 * copies; they are opened and closed between openssl_enter() and _leave(),
 * where no fork happens, whether TLS is used or not.
 */
#include "http/client/http_client.h"

#include <assert.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/clock.h"
#include "base/percent.h"
#include "http/client/reply_parser.h"
#include "http/tls/openssl.h"
#include "http/tls/tls.h"

#define READ_STEP      ((size_t)16 << 10)
#define MAX_HEAD_BYTES ((size_t)64 << 10)

/* A connection under way. */
struct wire {
    int fd;
    struct tls *tls; /* NULL: plain */
    int64_t deadline_ns;
};

/* Sockets of calls under way, plus one; 0 is free.  */
#define MAX_OPEN 64
static _Atomic int open_sockets[MAX_OPEN];

static bool replace(int from, int to)
{
    for (int i = 0; i < MAX_OPEN; i++) {
        int was = from;

        if (atomic_compare_exchange_strong(&open_sockets[i], &was, to))
            return true;
    }
    return false;
}

static int open_socket(const struct addrinfo *a)
{
    int fd;

    if (!openssl_enter()) {
        errno = ESHUTDOWN;
        return -1;
    }
    fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
                a->ai_protocol);
    if (fd >= 0 && !replace(0, fd + 1)) {
        close(fd);
        errno = EMFILE;
        fd = -1;
    }
    openssl_leave();
    return fd;
}

static void close_socket(int fd)
{
    bool entered = openssl_enter();

    replace(fd + 1, 0);
    close(fd);
    if (entered)
        openssl_leave();
}

void http_client_after_fork(void)
{
    for (int i = 0; i < MAX_OPEN; i++) {
        int fd = atomic_exchange(&open_sockets[i], 0) - 1;

        if (fd >= 0)
            close(fd);
    }
}

static bool wait_for(int fd, short events, int64_t deadline_ns,
                     struct error *err)
{
    struct pollfd p = {.fd = fd, .events = events};
    int64_t left;
    int rc;

    do {
        left = deadline_ns - clock_monotonic_ns();
        rc = left <= 0 ? 0 : poll(&p, 1, (int)(left / 1000000) + 1);
    } while (rc < 0 && errno == EINTR);
    if (rc > 0)
        return true;
    return error_set(err, "%s", rc == 0 ? "timeout" : strerror(errno));
}

static int connect_to(const struct addrinfo *a, int64_t deadline_ns,
                      struct error *err)
{
    int fd = open_socket(a);
    int failure = 0;
    socklen_t len = sizeof(failure);

    if (fd < 0) {
        error_set(err, "%s", strerror(errno));
        return -1;
    }
    if (connect(fd, a->ai_addr, a->ai_addrlen) != 0)
        failure = errno;
    if (failure == EINPROGRESS && wait_for(fd, POLLOUT, deadline_ns, err) &&
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &len) != 0)
        failure = errno;
    if (failure == 0)
        return fd;
    if (failure != EINPROGRESS)
        error_set(err, "%s", strerror(failure));
    close_socket(fd);
    return -1;
}

static int64_t connect_until(const struct http_call *call)
{
    int64_t until = clock_monotonic_ns() + call->connect_ns;

    return call->connect_ns && until < call->deadline_ns ? until
                                                         : call->deadline_ns;
}

static int dial(const struct http_call *call, struct error *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
    int rc = getaddrinfo(call->host, call->port, &hints, &found), fd = -1;

    if (rc != 0) {
        error_set(err, "%s", gai_strerror(rc));
        return -1;
    }
    for (struct addrinfo *a = found; a && fd < 0; a = a->ai_next)
        fd = connect_to(a, connect_until(call), err);
    freeaddrinfo(found);
    return fd;
}

/* After a -1: waits until the socket is ready.  False: it is over. */
static bool try_again(struct wire *w, short direction, struct error *err)
{
    if (errno == EINTR)
        return true;
    if (errno != EAGAIN)
        return error_set(err, "%s",
                         w->tls ? tls_reason(w->tls) : strerror(errno));
    if (w->tls)
        direction = tls_wants(w->tls) == TLS_WANTS_WRITE ? POLLOUT : POLLIN;
    return wait_for(w->fd, direction, w->deadline_ns, err);
}

static bool send_all(struct wire *w, struct str bytes, struct error *err)
{
    while (bytes.n > 0) {
        ssize_t n = w->tls ? tls_write(w->tls, bytes.s, bytes.n)
                           : send(w->fd, bytes.s, bytes.n, MSG_NOSIGNAL);

        if (n > 0)
            bytes = str_skip(bytes, (size_t)n);
        else if (!try_again(w, POLLOUT, err))
            return false;
    }
    return true;
}

static bool read_reply(struct wire *w, struct reply_parser *p,
                       struct buf *reply, struct error *err)
{
    enum http_parsed parsed = HTTP_INCOMPLETE;
    char bytes[READ_STEP];

    while (parsed == HTTP_INCOMPLETE) {
        ssize_t n = w->tls ? tls_read(w->tls, bytes, sizeof(bytes))
                           : recv(w->fd, bytes, sizeof(bytes), 0);

        if (n < 0) {
            if (!try_again(w, POLLIN, err))
                return false;
            continue;
        }
        if (n == 0)
            parsed = reply_parser_end(p) ? HTTP_COMPLETE : HTTP_MALFORMED;
        else
            parsed = reply_parser_feed(p, str_of(bytes, (size_t)n), reply);
    }
    if (!buf_ok(reply))
        return error_set(err, "the reply is too large");
    return parsed == HTTP_COMPLETE ||
           error_set(err, "%s",
                     p->has_head ? "the reply is malformed" : "no HTTP reply");
}

static void write_head(const struct http_call *call, struct buf *out)
{
    bool v6 = strchr(call->host, ':') != NULL;

    buf_addf(out, "%s %s HTTP/1.1\r\nHost: %s%s%s:%s\r\n", call->method,
             call->path, v6 ? "[" : "", call->host, v6 ? "]" : "", call->port);
    buf_addf(out,
             "User-Agent: libpprof\r\nConnection: close\r\n"
             "Content-Type: %s\r\nContent-Length: %zu\r\n",
             call->content_type, call->body.n);
    if (call->token.n) {
        buf_addf(out, "Authorization: Bearer %" STR_FMT "\r\n",
                 STR_ARG(call->token));
    } else if (call->user.n) {
        buf_add(out, STR("Authorization: Basic "));
        base64_encode(out, call->user);
        buf_add(out, STR("\r\n"));
    }
    buf_add(out, STR("\r\n"));
}

static bool is_late(const struct wire *w)
{
    return clock_monotonic_ns() >= w->deadline_ns;
}

/* A server may answer before it has taken the whole body, to refuse it: what
 * it says is more useful than that it stopped listening. */
static bool exchange(struct wire *w, const struct http_call *call,
                     struct http_answer *answer, struct buf *reply,
                     struct error *err)
{
    struct buf head = BUF_INIT(MAX_HEAD_BYTES);
    struct reply_parser p;
    struct error ignored;
    bool ok, sent;

    reply_parser_init(&p);
    write_head(call, &head);
    if (!buf_ok(&head)) {
        ok = error_set(err, "the request is too large");
    } else {
        sent = send_all(w, buf_str(&head), err) && send_all(w, call->body, err);
        ok = (sent || !is_late(w)) &&
             read_reply(w, &p, reply, sent ? err : &ignored);
    }
    if (head.data)
        explicit_bzero(head.data, head.len); /* it has the token */
    buf_release(&head);
    if (p.has_head)
        *answer = (struct http_answer){p.status, (int64_t)p.retry_after_s};
    reply_parser_release(&p);
    return ok;
}

bool http_call(const struct http_call *call, struct http_answer *answer,
               struct buf *reply, struct error *err)
{
    struct wire w = {.fd = dial(call, err), .deadline_ns = call->deadline_ns};
    bool ok = w.fd >= 0;

    assert(call->method && call->path && call->content_type);
    *answer = (struct http_answer){0};
    if (ok && call->tls) {
        w.tls = tls_connect(w.fd, call->tls, call->host, err);
        ok = w.tls != NULL;
    }
    ok = ok && exchange(&w, call, answer, reply, err);
    tls_free(w.tls);
    if (w.fd >= 0)
        close_socket(w.fd);
    return ok;
}

/* "host", "host:80", "[::1]", "[::1]:80" */
static bool split_authority(struct str authority, struct str *host,
                            struct str *port)
{
    ptrdiff_t colon = str_rfind_char(authority, ':');
    ptrdiff_t bracket = str_rfind_char(authority, ']');

    *host = authority;
    if (colon > bracket) {
        *host = str_first(authority, (size_t)colon);
        *port = str_skip(authority, (size_t)colon + 1);
    }
    if (host->n > 2 && host->s[0] == '[' && host->s[host->n - 1] == ']')
        *host = str_of(host->s + 1, host->n - 2);
    else if (str_find_char(*host, ':') >= 0)
        return false;
    return host->n > 0 && port->n > 0;
}

static bool copy_part(char *out, size_t size, struct str part)
{
    if (part.n >= size)
        return false;
    memcpy(out, part.s, part.n);
    out[part.n] = '\0';
    return true;
}

/* "user:password@host" without the secret part. */
static struct str without_user(struct str authority)
{
    return str_skip(authority, (size_t)(str_rfind_char(authority, '@') + 1));
}

/* Takes "user:password@" off the front. */
static bool split_user(struct str *authority, char *out, size_t size)
{
    ptrdiff_t at = str_rfind_char(*authority, '@');
    struct str user = str_first(*authority, at < 0 ? 0 : (size_t)at);
    ptrdiff_t n;

    *authority = without_user(*authority);
    if (user.n >= size)
        return false;
    n = percent_decode(user, false, out);
    out[n < 0 ? 0 : n] = '\0';
    return n >= 0 && !memchr(out, 0, (size_t)n);
}

/* Bytes that would end the request line, and parts that a base has not. */
static bool has_odd_bytes(struct str url)
{
    for (size_t i = 0; i < url.n; i++)
        if ((unsigned char)url.s[i] <= ' ' || (unsigned char)url.s[i] >= 0x7f ||
            url.s[i] == '?' || url.s[i] == '#')
            return true;
    return false;
}

bool http_url_parse(struct str url, struct http_url *out, struct error *err)
{
    struct str rest, shown, host, port, path = STR("");
    ptrdiff_t slash;

    out->is_tls = str_has_prefix(url, STR("https://"));
    if (!out->is_tls && !str_has_prefix(url, STR("http://")))
        return error_set(err,
                         "%" STR_FMT
                         ": must be a URL that starts with http:// or https://",
                         STR_ARG(without_user(url)));
    rest = str_skip(url, out->is_tls ? 8 : 7);
    shown = without_user(rest);
    slash = str_find_char(rest, '/');
    if (slash >= 0) {
        path = str_skip(rest, (size_t)slash);
        rest = str_first(rest, (size_t)slash);
    }
    while (path.n && path.s[path.n - 1] == '/')
        path.n--;
    port = out->is_tls ? STR("443") : STR("80");
    if (has_odd_bytes(url) ||
        !split_user(&rest, out->user, sizeof(out->user)) ||
        !split_authority(rest, &host, &port) ||
        !copy_part(out->host, sizeof(out->host), host) ||
        !copy_part(out->port, sizeof(out->port), port) ||
        !copy_part(out->path, sizeof(out->path), path))
        return error_set(err, "%s://%" STR_FMT ": not a host and port",
                         out->is_tls ? "https" : "http", STR_ARG(shown));
    return true;
}
