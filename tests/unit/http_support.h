#ifndef TESTS_UNIT_HTTP_SUPPORT_H
#define TESTS_UNIT_HTTP_SUPPORT_H

/*
 * A server under test and a client that says exactly what it is told.
 */
#include "test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "http/server/server.h"

#define SECOND ((int64_t)1000000000)

static inline struct http_server *
start_server(const struct http_server_options *options)
{
    struct error err;
    struct http_server *s = http_server_new(options, &err);

    if (!s) {
        printf("Bail out! %s\n", err.text);
        exit(1);
    }
    return s;
}

/* From 127.0.0.`host`. */
static inline int connect_from(const struct http_server *s, unsigned host)
{
    struct str address = str_from(http_server_address(s));
    struct sockaddr_in in = {.sin_family = AF_INET}, from = in;
    struct timeval patience = {.tv_sec = 30};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    uint64_t port = 0;

    EXPECT(str_to_u64(str_skip(address, strlen("127.0.0.1:")), 10, &port));
    in.sin_port = htons((uint16_t)port);
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    from.sin_addr.s_addr = htonl((INADDR_LOOPBACK & ~0xffu) | host);
    EXPECT(bind(fd, (struct sockaddr *)&from, sizeof(from)) == 0);
    EXPECT(connect(fd, (struct sockaddr *)&in, sizeof(in)) == 0);
    return fd;
}

static inline int connect_to(const struct http_server *s)
{
    return connect_from(s, 1);
}

static inline void say(int fd, const char *text)
{
    EXPECT(send(fd, text, strlen(text), MSG_NOSIGNAL) == (ssize_t)strlen(text));
}

/* Reads until the server closes. */
static inline struct str hear(int fd, char *out, size_t size)
{
    size_t n = 0;
    ssize_t got;

    while (n < size && (got = recv(fd, out + n, size - n, 0)) > 0)
        n += (size_t)got;
    return str_of(out, n);
}

static inline size_t count(struct str text, struct str word)
{
    size_t n = 0;
    ptrdiff_t at;

    for (; (at = str_find(text, word)) >= 0; n++)
        text = str_skip(text, (size_t)at + word.n);
    return n;
}

static inline bool becomes_true(atomic_int *flag)
{
    int64_t until = clock_monotonic_ns() + 30 * SECOND;

    while (!atomic_load(flag) && clock_monotonic_ns() < until)
        usleep(1000);
    return atomic_load(flag) != 0;
}

#endif
