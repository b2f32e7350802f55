#include "runtime/heap_push.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/buf.h"

#define PATIENCE_S 5 /* for connecting, and for each read and write */

struct target {
    char host[256], port[8], path[256]; /* path without a slash at its end */
};

/* "http://host:port/path", "http://[::1]:10100". */
static bool parse_url(struct str url, struct target *out, struct error *err)
{
    struct str rest = url, host, path = STR("");
    ptrdiff_t at;

    if (!str_has_prefix(rest, STR("http://")))
        return error_set(err, "%.*s: only http:// is known here", (int)url.n,
                         url.s);
    rest = str_skip(rest, 7);
    at = str_find_char(rest, '/');
    if (at >= 0) {
        path = str_skip(rest, (size_t)at);
        rest = str_first(rest, (size_t)at);
    }
    while (path.n && path.s[path.n - 1] == '/')
        path.n--;
    host = rest;
    at = -1;
    for (size_t i = 0; i < rest.n; i++)
        if (rest.s[i] == ':' &&
            (i + 1 == rest.n || rest.s[0] != '[' || rest.s[i - 1] == ']'))
            at = (ptrdiff_t)i;
    snprintf(out->port, sizeof(out->port), "80");
    if (at >= 0) {
        host = str_first(rest, (size_t)at);
        snprintf(out->port, sizeof(out->port), "%" STR_FMT,
                 STR_ARG(str_skip(rest, (size_t)at + 1)));
    }
    if (host.n > 1 && host.s[0] == '[')
        host = str_of(host.s + 1, host.n - 2);
    snprintf(out->host, sizeof(out->host), "%" STR_FMT, STR_ARG(host));
    snprintf(out->path, sizeof(out->path), "%" STR_FMT, STR_ARG(path));
    return host.n > 0 ||
           error_set(err, "%.*s: no host in it", (int)url.n, url.s);
}

static int connect_to(const struct target *t, struct error *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *all, *a;
    struct timeval patience = {.tv_sec = PATIENCE_S};
    int fd = -1, rc = getaddrinfo(t->host, t->port, &hints, &all), why = 0;

    if (rc != 0) {
        error_set(err, "%s: %s", t->host, gai_strerror(rc));
        return -1;
    }
    for (a = all; a && fd < 0; a = a->ai_next) {
        fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, 0);
        if (fd < 0)
            continue;
        /* Connecting obeys the send timeout, too. */
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
        if (connect(fd, a->ai_addr, a->ai_addrlen) != 0) {
            why = errno;
            close(fd);
            fd = -1;
        }
    }
    freeaddrinfo(all);
    if (fd < 0)
        error_set_os(err, "connect", t->host, why ? why : errno);
    return fd;
}

static bool send_all(int fd, struct str bytes)
{
    while (bytes.n) {
        ssize_t n = send(fd, bytes.s, bytes.n, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        bytes = str_skip(bytes, (size_t)n);
    }
    return true;
}

/* What a query may hold as it is; all else is escaped. */
static void add_escaped(struct buf *out, struct str text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~";

    for (size_t i = 0; i < text.n; i++) {
        if (strchr(plain, text.s[i]) && text.s[i])
            buf_add_char(out, text.s[i]);
        else
            buf_addf(out, "%%%02X", (unsigned char)text.s[i]);
    }
}

static bool exchange(int fd, const struct target *t, const char *service,
                     struct str profile, struct error *err)
{
    struct buf head = BUF_INIT(4096);
    char reply[256];
    ssize_t n;
    bool ok;

    buf_addf(&head, "POST %s/api/0/profiles?service=", t->path);
    add_escaped(&head, str_from(service));
    buf_addf(&head,
             "&type=heap HTTP/1.1\r\nHost: %s:%s\r\nContent-Length: %zu\r\n"
             "Content-Type: application/octet-stream\r\n"
             "Connection: close\r\n\r\n",
             t->host, t->port, profile.n);
    ok = buf_ok(&head) && send_all(fd, buf_str(&head)) && send_all(fd, profile);
    buf_release(&head);
    n = recv(fd, reply, sizeof(reply) - 1, 0);
    if (n <= 0)
        return error_set(err, "%s: %s", t->host,
                         ok ? "no answer" : "it did not take all");
    reply[n] = '\0';
    reply[strcspn(reply, "\r\n")] = '\0';
    return strncmp(reply, "HTTP/1.", 7) == 0 && reply[8] == ' ' &&
                   reply[9] == '2'
               ? true
               : error_set(err, "%s: %.200s", t->host, reply);
}

bool heap_push(const char *base_url, const char *service, struct str profile,
               struct error *err)
{
    struct target t;
    bool ok;
    int fd;

    if (!parse_url(str_from(base_url), &t, err))
        return false;
    fd = connect_to(&t, err);
    if (fd < 0)
        return false;
    ok = exchange(fd, &t, service, profile, err);
    close(fd);
    return ok;
}
