/*
 * Posts profiles to a collector with profefe's API, from several connections
 * at a time, and prints one line of JSON:
 *
 *     collector_load -port 10100 -clients 16 -count 20000 -pid PID FILE …
 *
 * Every client keeps one connection and sends the files in turn, under
 * `-services` different names that begin with `-name`.  With -step the
 * profiles are made that many seconds apart, the last one now (files must have
 * no time of their own).  -pid measures the CPU time and the peak memory
 * of the server, so that collectors can be compared whatever else the machine
 * does.  Replies other than 200 are counted as refused.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "load.h"

enum { MAX_CLIENTS = 256, MAX_FILES = 100000 };

static struct body files[MAX_FILES];
static size_t n_files;
static int port, clients = 16, services = 1, pid;
static long count = 10000;
static double step_seconds; /* 0: the collector's clock decides */
static const char *type = "cpu";
static const char *name = "load";
static const char *token;
static atomic_long next, taken, refused;
static atomic_llong posted_bytes;
static int64_t *latencies_ns; /* of each request */

static int dial(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);

    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0)
        fail("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    return fd;
}

static void send_all(int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);

        if (sent <= 0)
            fail("send");
        bytes += sent;
        n -= (size_t)sent;
    }
}

/* Reads one reply with a Content-Length or in chunks; its status. */
static int read_reply(int fd)
{
    char reply[65536];
    size_t n = 0;
    char *end, *length;

    for (;;) {
        ssize_t got = recv(fd, reply + n, sizeof(reply) - 1 - n, 0);

        if (got <= 0)
            fail("receive");
        n += (size_t)got;
        reply[n] = '\0';
        end = strstr(reply, "\r\n\r\n");
        if (!end)
            continue;
        length = strcasestr(reply, "content-length:");
        if (length && length < end
                ? n >=
                      (size_t)(end + 4 - reply) + strtoul(length + 15, NULL, 10)
                : n >= 5 && strcmp(reply + n - 5, "0\r\n\r\n") == 0)
            return (int)strtol(reply + 9, NULL, 10);
    }
}

static void format_time(char *out, size_t n, time_t t)
{
    struct tm tm;

    gmtime_r(&t, &tm);
    strftime(out, n, "&created_at=%Y-%m-%dT%H:%M:%S", &tm);
}

static int post(int fd, long i)
{
    const struct body *b = &files[(size_t)i % n_files];
    char head[1024], authorization[256] = "", created_at[64] = "";
    int n;

    if (token)
        snprintf(authorization, sizeof(authorization),
                 "Authorization: Bearer %s\r\n", token);
    if (step_seconds > 0)
        format_time(created_at, sizeof(created_at),
                    time(NULL) - (time_t)((double)(count - i) * step_seconds));
    n = snprintf(head, sizeof(head),
                 "POST /api/0/profiles?service=%s-%ld&type=%s%s&"
                 "labels=instance=%ld,region=eu,version=1 HTTP/1.1\r\n"
                 "Host: 127.0.0.1\r\n%sContent-Length: %zu\r\n\r\n",
                 name, i % services, type, created_at, i / services % 4,
                 authorization, b->n);
    send_all(fd, head, (size_t)n);
    send_all(fd, b->bytes, b->n);
    atomic_fetch_add(&posted_bytes, (long long)b->n);
    return read_reply(fd);
}

static void *client(void *arg)
{
    int fd = dial();
    long i;

    (void)arg;
    while ((i = atomic_fetch_add(&next, 1)) < count) {
        int64_t start = now_ns();

        atomic_fetch_add(post(fd, i) == 200 ? &taken : &refused, 1);
        latencies_ns[i] = now_ns() - start;
    }
    close(fd);
    return NULL;
}

/* User and system time of the server in seconds. */
static double server_cpu(void)
{
    char path[64], line[1024], *p;
    unsigned long user = 0, system = 0;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    f = pid ? fopen(path, "r") : NULL;
    if (!f)
        return 0;
    if (fgets(line, sizeof(line), f) && (p = strrchr(line, ')')) != NULL)
        sscanf(p + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
               &user, &system);
    fclose(f);
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static double server_peak_mb(void)
{
    char path[64], line[256];
    double kb = 0;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/status", pid);
    f = pid ? fopen(path, "r") : NULL;
    while (f && fgets(line, sizeof(line), f))
        if (sscanf(line, "VmHWM: %lf", &kb) == 1)
            break;
    if (f)
        fclose(f);
    return kb / 1024;
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static void report(double seconds, double cpu)
{
    qsort(latencies_ns, (size_t)count, sizeof(*latencies_ns), by_size);
    printf("{\"profiles\":%ld,\"refused\":%ld,\"seconds\":%.3f,"
           "\"per_second\":%.0f,\"posted_bytes\":%lld,"
           "\"server_cpu_ms_per_profile\":%.4f,\"p50_ms\":%.2f,"
           "\"p99_ms\":%.2f,\"server_peak_mb\":%.1f}\n",
           atomic_load(&taken), atomic_load(&refused), seconds,
           (double)atomic_load(&taken) / seconds, atomic_load(&posted_bytes),
           cpu * 1e3 / (double)count, (double)latencies_ns[count / 2] / 1e6,
           (double)latencies_ns[count * 99 / 100] / 1e6, server_peak_mb());
}

static void read_arguments(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        bool has_value = i + 1 < argc;

        if (has_value && strcmp(argv[i], "-port") == 0)
            port = (int)strtol(argv[++i], NULL, 10);
        else if (has_value && strcmp(argv[i], "-clients") == 0)
            clients = (int)strtol(argv[++i], NULL, 10);
        else if (has_value && strcmp(argv[i], "-services") == 0)
            services = (int)strtol(argv[++i], NULL, 10);
        else if (has_value && strcmp(argv[i], "-count") == 0)
            count = strtol(argv[++i], NULL, 10);
        else if (has_value && strcmp(argv[i], "-type") == 0)
            type = argv[++i];
        else if (has_value && strcmp(argv[i], "-name") == 0)
            name = argv[++i];
        else if (has_value && strcmp(argv[i], "-step") == 0)
            step_seconds = strtod(argv[++i], NULL);
        else if (has_value && strcmp(argv[i], "-token") == 0)
            token = argv[++i];
        else if (has_value && strcmp(argv[i], "-pid") == 0)
            pid = (int)strtol(argv[++i], NULL, 10);
        else if (n_files < MAX_FILES)
            files[n_files++] = body_load(argv[i]);
    }
}

int main(int argc, char **argv)
{
    pthread_t threads[MAX_CLIENTS];
    int64_t start;
    double cpu;

    read_arguments(argc, argv);
    if (!port || !n_files || clients < 1 || clients > MAX_CLIENTS ||
        services < 1 || count < 1) {
        fprintf(stderr, "usage: collector_load -port N [-clients N] [-count N] "
                        "[-services N] [-name TEXT] [-type T] [-step SECONDS] "
                        "[-token T] [-pid PID] FILE …\n");
        return 2;
    }
    latencies_ns = calloc((size_t)count, sizeof(*latencies_ns));
    if (!latencies_ns)
        fail("memory");
    cpu = server_cpu();
    start = now_ns();
    for (int i = 0; i < clients; i++)
        if (pthread_create(&threads[i], NULL, client, NULL) != 0)
            fail("start a thread");
    for (int i = 0; i < clients; i++)
        pthread_join(threads[i], NULL);
    report((double)(now_ns() - start) / 1e9, server_cpu() - cpu);
    return atomic_load(&refused) != 0;
}
