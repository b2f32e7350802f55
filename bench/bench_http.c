/*
 * What request bodies cost the HTTP server.
 *
 *     bench_http            one JSON line per case
 *
 * The server runs in this process.  `server_cpu_ms` is the CPU time of all
 * threads but the client's own, so it does not depend on how busy the machine
 * is.  The last case measures how long /healthz takes while eight clients
 * send bodies in chunks of one byte.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#if __has_include("http/server/server.h")
#include "http/server/server.h"
#else /* compare.py builds this file with the sources of older versions */
#include "http/server.h"
#endif

#define MB ((size_t)1 << 20)

static int port;

static void handle(struct http_exchange *x, void *arg)
{
    (void)arg;
    buf_addf(&x->body, "%zu", x->request->body.n);
}

static bool probe(struct http_exchange *x, void *arg)
{
    (void)arg;
    if (!str_eq(x->request->path, STR("/healthz")))
        return false;
    buf_add(&x->body, STR("ok"));
    return true;
}

static int dial(void)
{
    struct sockaddr_in in = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd, (struct sockaddr *)&in, sizeof(in)) != 0) {
        perror("connect");
        exit(1);
    }
    return fd;
}

static bool send_all(int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);

        if (sent <= 0)
            return false;
        bytes += sent;
        n -= (size_t)sent;
    }
    return true;
}

/* A POST of `body` bytes in chunks of `chunk` bytes; 0: Content-Length. */
static struct buf request(size_t body, size_t chunk)
{
    struct buf b = BUF_INIT(BUF_NO_LIMIT);

    buf_add(&b, STR("POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"));
    if (chunk == 0) {
        buf_addf(&b, "Content-Length: %zu\r\n\r\n", body);
        buf_add_pad(&b, 'x', body);
        return b;
    }
    buf_add(&b, STR("Transfer-Encoding: chunked\r\n\r\n"));
    for (size_t at = 0; at < body; at += chunk) {
        buf_addf(&b, "%zx\r\n", chunk);
        buf_add_pad(&b, 'x', chunk);
        buf_add(&b, STR("\r\n"));
    }
    buf_add(&b, STR("0\r\n\r\n"));
    return b;
}

static bool post(const struct buf *bytes, size_t body)
{
    char reply[1024], want[32];
    size_t n = 0;
    ssize_t got;
    int fd = dial();
    bool sent = send_all(fd, bytes->data, bytes->len);

    while ((got = recv(fd, reply + n, sizeof(reply) - 1 - n, 0)) > 0)
        n += (size_t)got;
    close(fd);
    reply[n] = '\0';
    snprintf(want, sizeof(want), "\r\n\r\n%zu", body);
    return sent && strstr(reply, want) != NULL;
}

static void measure(const char *name, size_t body, size_t chunk)
{
    struct buf bytes = request(body, chunk);
    int64_t all = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    int64_t own = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    bool ok = post(&bytes, body);

    all = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - all;
    own = clock_ns(CLOCK_THREAD_CPUTIME_ID) - own;
    printf("{\"case\": \"%s\", \"ok\": %s, \"server_cpu_ms\": %.1f}\n", name,
           ok ? "true" : "false", (double)(all - own) / 1e6);
    fflush(stdout);
    buf_release(&bytes);
}

static atomic_bool stop;

static void *flood(void *arg)
{
    const struct buf *bytes = arg;

    while (!atomic_load(&stop))
        post(bytes, MB);
    return NULL;
}

static double healthz_ms(void)
{
    static const char ask[] = "GET /healthz HTTP/1.1\r\nHost: h\r\n"
                              "Connection: close\r\n\r\n";
    int64_t start = clock_monotonic_ns();
    char reply[1024];
    int fd = dial();

    send_all(fd, ask, sizeof(ask) - 1);
    while (recv(fd, reply, sizeof(reply), 0) > 0)
        ;
    close(fd);
    return (double)(clock_monotonic_ns() - start) / 1e6;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void measure_flood(void)
{
    struct buf bytes = request(MB, 1);
    enum { CLIENTS = 8, PROBES = 40 };
    pthread_t threads[CLIENTS];
    double took[PROBES];

    for (int i = 0; i < CLIENTS; i++)
        pthread_create(&threads[i], NULL, flood, &bytes);
    usleep(300000);
    for (int i = 0; i < PROBES; i++) {
        took[i] = healthz_ms();
        usleep(50000);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(threads[i], NULL);
    qsort(took, PROBES, sizeof(took[0]), by_size);
    printf("{\"case\": \"healthz during 8 clients with 1-byte chunks\", "
           "\"median_ms\": %.1f, \"worst_ms\": %.1f}\n",
           took[PROBES / 2], took[PROBES - 1]);
    buf_release(&bytes);
}

int main(void)
{
    struct http_limits limits = http_default_limits;
    struct http_server_options options = {.address = "127.0.0.1:0",
                                          .limits = &limits,
                                          .handler = handle,
                                          .at_once = probe};
    struct http_server *s;
    struct error err;
    uint64_t number;

    limits.body_bytes = 64 * MB;
    s = http_server_new(&options, &err);
    if (!s) {
        fprintf(stderr, "bench_http: %s\n", err.text);
        return 1;
    }
    str_to_u64(str_from(strrchr(http_server_address(s), ':') + 1), 10, &number);
    port = (int)number;
    measure("32 MB, Content-Length", 32 * MB, 0);
    measure("32 MB in 4 KiB chunks", 32 * MB, 4096);
    measure("1 MB in 1-byte chunks", MB, 1);
    measure_flood();
    http_server_free(s);
    return 0;
}
