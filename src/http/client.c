#include "http/client.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "http/openssl.h"
#include "http/reply.h"
#include "http/tls.h"

#define READ_STEP ((size_t)4096)

/* Sockets of posts under way, plus one; 0 is free.  Changed between
 * openssl_enter and _leave, that is, not during a fork. */
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

void https_post_after_fork(void)
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

static int dial(const struct https_post *p, struct error *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
    int rc = getaddrinfo(p->host, p->port, &hints, &found), fd = -1;

    if (rc != 0) {
        error_set(err, "%s", gai_strerror(rc));
        return -1;
    }
    for (struct addrinfo *a = found; a && fd < 0; a = a->ai_next)
        fd = connect_to(a, p->deadline_ns, err);
    freeaddrinfo(found);
    return fd;
}

/* After a -1: waits for what TLS wants.  False: it is over. */
static bool try_again(struct tls *t, int fd, int64_t deadline_ns,
                      struct error *err)
{
    if (errno != EAGAIN)
        return error_set(err, "%s", tls_reason(t));
    return wait_for(fd, tls_wants(t) == TLS_WANTS_WRITE ? POLLOUT : POLLIN,
                    deadline_ns, err);
}

static bool send_all(struct tls *t, int fd, struct str bytes,
                     int64_t deadline_ns, struct error *err)
{
    while (bytes.n > 0) {
        ssize_t n = tls_write(t, bytes.s, bytes.n);

        if (n > 0)
            bytes = str_skip(bytes, (size_t)n);
        else if (!try_again(t, fd, deadline_ns, err))
            return false;
    }
    return true;
}

/* Reads until the reply is whole; leaves its body alone in `reply`. */
static bool hear(struct tls *t, int fd, int64_t deadline_ns, int *status,
                 struct buf *reply, struct error *err)
{
    size_t max_body = reply->max, at = 0, n = 0;
    enum http_parsed parsed = HTTP_INCOMPLETE;

    reply->max += (size_t)64 << 10; /* the head and the marks of chunks */
    while (parsed == HTTP_INCOMPLETE) {
        char *to = buf_reserve(reply, READ_STEP);
        ssize_t got = to ? tls_read(t, to, READ_STEP) : 0;

        if (!to)
            return error_set(err, "the reply is too large");
        if (got < 0) {
            if (!try_again(t, fd, deadline_ns, err))
                return false;
            continue;
        }
        reply->len += (size_t)got;
        parsed = http_parse_reply(reply->data, reply->len, max_body, got == 0,
                                  status, &at, &n);
    }
    if (parsed != HTTP_COMPLETE)
        return error_set(err, "the reply is malformed");
    memmove(reply->data, reply->data + at, n);
    reply->len = n;
    return true;
}

static void write_request(const struct https_post *p, struct buf *out)
{
    bool v6 = strchr(p->host, ':') != NULL;

    buf_addf(out,
             "POST %s HTTP/1.1\r\nHost: %s%s%s:%s\r\n"
             "User-Agent: libpprof\r\nAccept: application/json\r\n"
             "Content-Type: application/json\r\nContent-Length: %zu\r\n"
             "Connection: close\r\n",
             p->path, v6 ? "[" : "", p->host, v6 ? "]" : "", p->port,
             p->body.n);
    if (p->token.n)
        buf_addf(out, "Authorization: Bearer %" STR_FMT "\r\n",
                 STR_ARG(p->token));
    buf_add(out, STR("\r\n"));
    buf_add(out, p->body);
}

bool https_post(const struct https_post *p, int *status, struct buf *reply,
                struct error *err)
{
    struct buf request = BUF_INIT((size_t)128 << 10);
    int fd = dial(p, err);
    struct tls *t = fd < 0 ? NULL : tls_connect(fd, p->ca_file, p->host, err);
    bool ok = false;

    write_request(p, &request);
    if (t && !buf_ok(&request))
        error_set(err, "the request is too large");
    else if (t)
        ok = send_all(t, fd, buf_str(&request), p->deadline_ns, err) &&
             hear(t, fd, p->deadline_ns, status, reply, err);
    if (!ok)
        error_wrap(err, "Post \"https://%s:%s%s\"", p->host, p->port, p->path);
    tls_free(t);
    if (fd >= 0)
        close_socket(fd);
    if (request.data)
        explicit_bzero(request.data, request.len);
    buf_release(&request);
    return ok;
}
