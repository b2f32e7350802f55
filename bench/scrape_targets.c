/*
 * Thousands of targets in one process, to scrape:
 *
 *     scrape_targets [-port N] PROFILE.pb.gz …
 *
 * It listens on one port of all loopback addresses, so that 127.0.0.1 to
 * 127.255.255.254 are as many targets.  /debug/pprof/profile?seconds=N
 * answers after N seconds, any other path below /debug/pprof/ at once; the
 * index page lists profile and heap.  Connections stay open, as Go's do.
 *
 * It prints its port, and at SIGTERM one line of JSON: requests by path, how
 * many targets were asked, and for each path the shortest and the longest
 * time between two requests to the same target.  Those tell whether every
 * scrape was made within its window.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "load.h"

enum { MAX_FDS = 65536, MAX_TARGETS = 1 << 17, MAX_REQUEST = 4096, PATHS = 3 };

static const char *const path_names[PATHS] = {"index", "profile", "heap"};

static const char index_page[] =
    "<html><head><title>/debug/pprof/</title></head><body>/debug/pprof/<table>"
    "<tr><td>3</td><td><a href='heap?debug=1'>heap</a></td></tr>"
    "<tr><td>0</td><td><a href='profile?debug=1'>profile</a></td></tr>"
    "</table></body></html>";

struct connection {
    uint32_t target; /* address within 127.0.0.0/8 */
    uint32_t n;
    int64_t due_ns; /* of a delayed reply; 0: none */
    char request[MAX_REQUEST];
};

static struct body bodies[64];
static size_t n_bodies;
static struct connection *connections[MAX_FDS];
static int delayed[MAX_FDS]; /* a heap of fds by due_ns */
static size_t n_delayed;
static int64_t last_ns[PATHS][MAX_TARGETS];
static int64_t shortest_ns[PATHS], longest_ns[PATHS];
static long long requests[PATHS], broken;
static long long most_open, now_open;
static volatile sig_atomic_t ends;
static int poll_fd;

/* --- delayed replies ------------------------------------------------------ */

static int64_t due_at(size_t i)
{
    return connections[delayed[i]]->due_ns;
}

static void swap(size_t i, size_t k)
{
    int fd = delayed[i];

    delayed[i] = delayed[k];
    delayed[k] = fd;
}

static void sink(size_t i)
{
    for (;;) {
        size_t child = 2 * i + 1;

        if (child + 1 < n_delayed && due_at(child + 1) < due_at(child))
            child++;
        if (child >= n_delayed || due_at(child) >= due_at(i))
            return;
        swap(i, child);
        i = child;
    }
}

static void delay(int fd)
{
    size_t i = n_delayed++;

    delayed[i] = fd;
    while (i > 0 && due_at((i - 1) / 2) > due_at(i)) {
        swap(i, (i - 1) / 2);
        i = (i - 1) / 2;
    }
}

/* Rare: a client that goes before its reply. */
static void forget_delayed(int fd)
{
    size_t kept = 0;

    for (size_t i = 0; i < n_delayed; i++)
        if (delayed[i] != fd)
            delayed[kept++] = delayed[i];
    n_delayed = kept;
    for (size_t i = kept / 2; i-- > 0;)
        sink(i);
}

/* --- connections ---------------------------------------------------------- */

static void hang_up(int fd)
{
    if (connections[fd]->due_ns) {
        broken++;
        forget_delayed(fd);
    }
    free(connections[fd]);
    connections[fd] = NULL;
    close(fd);
    now_open--;
}

static void reply(int fd, const char *type, const char *bytes, size_t n)
{
    char head[256];
    int len = snprintf(head, sizeof(head),
                       "HTTP/1.1 200 OK\r\nContent-Type: %s\r\n"
                       "Content-Length: %zu\r\n\r\n",
                       type, n);

    if (send(fd, head, (size_t)len, MSG_NOSIGNAL | MSG_MORE) != len ||
        send(fd, bytes, n, MSG_NOSIGNAL) != (ssize_t)n)
        broken++;
}

static void reply_profile(int fd)
{
    const struct body *b = &bodies[connections[fd]->target % n_bodies];

    reply(fd, "application/octet-stream", b->bytes, b->n);
}

static void note(int path, uint32_t target)
{
    int64_t now = now_ns(), *last = &last_ns[path][target % MAX_TARGETS];
    int64_t passed = now - *last;

    requests[path]++;
    if (*last) {
        if (!shortest_ns[path] || passed < shortest_ns[path])
            shortest_ns[path] = passed;
        if (passed > longest_ns[path])
            longest_ns[path] = passed;
    }
    *last = now;
}

static void answer(int fd)
{
    struct connection *c = connections[fd];
    const char *path = strstr(c->request, "/debug/pprof/");
    const char *seconds = strstr(c->request, "seconds=");

    path = path ? path + strlen("/debug/pprof/") : "";
    if (strncmp(path, "profile", 7) == 0) {
        note(1, c->target);
        c->due_ns = now_ns() + (seconds ? strtoll(seconds + 8, NULL, 10) : 30) *
                                   INT64_C(1000000000);
        delay(fd);
    } else if (strncmp(path, "heap", 4) == 0) {
        note(2, c->target);
        reply_profile(fd);
    } else {
        note(0, c->target);
        reply(fd, "text/html; charset=utf-8", index_page,
              sizeof(index_page) - 1);
    }
    c->n = 0;
}

static void read_request(int fd)
{
    struct connection *c = connections[fd];
    ssize_t n = recv(fd, c->request + c->n, MAX_REQUEST - 1 - c->n, 0);

    if (n <= 0) {
        if (n == 0 || (errno != EAGAIN && errno != EINTR))
            hang_up(fd);
        return;
    }
    c->n += (uint32_t)n;
    c->request[c->n] = '\0';
    if (strstr(c->request, "\r\n\r\n"))
        answer(fd);
}

static void accept_all(int listener)
{
    for (;;) {
        struct sockaddr_in to;
        socklen_t size = sizeof(to);
        int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};

        if (fd < 0)
            return;
        if (fd >= MAX_FDS ||
            !(connections[fd] = calloc(1, sizeof(struct connection)))) {
            close(fd);
            continue;
        }
        getsockname(fd, (struct sockaddr *)&to, &size);
        connections[fd]->target = ntohl(to.sin_addr.s_addr) & 0xffffff;
        epoll_ctl(poll_fd, EPOLL_CTL_ADD, fd, &e);
        if (++now_open > most_open)
            most_open = now_open;
    }
}

static void send_due(void)
{
    int64_t now = now_ns();

    while (n_delayed && due_at(0) <= now) {
        int fd = delayed[0];

        delayed[0] = delayed[--n_delayed];
        sink(0);
        connections[fd]->due_ns = 0;
        reply_profile(fd);
    }
}

/* --- program -------------------------------------------------------------- */

static int open_listener(int port)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port)};
    socklen_t size = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int on = 1;
    struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};

    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(fd, (struct sockaddr *)&at, size) != 0 || listen(fd, 4096) != 0 ||
        getsockname(fd, (struct sockaddr *)&at, &size) != 0)
        fail("listen");
    epoll_ctl(poll_fd, EPOLL_CTL_ADD, fd, &e);
    printf("%d\n", ntohs(at.sin_port));
    fflush(stdout);
    return fd;
}

static void report(void)
{
    printf("{\"most_connections\": %lld, \"broken\": %lld", most_open, broken);
    for (int p = 0; p < PATHS; p++) {
        long targets = 0;

        for (size_t i = 0; i < MAX_TARGETS; i++)
            targets += last_ns[p][i] != 0;
        printf(", \"%s\": {\"requests\": %lld, \"targets\": %ld, "
               "\"shortest_seconds\": %.3f, \"longest_seconds\": %.3f}",
               path_names[p], requests[p], targets,
               (double)shortest_ns[p] / 1e9, (double)longest_ns[p] / 1e9);
    }
    printf("}\n");
}

static void on_signal(int sig)
{
    (void)sig;
    ends = 1;
}

int main(int argc, char **argv)
{
    struct epoll_event events[256];
    struct rlimit limit;
    int port = 0, listener, i = 1;

    for (; i + 1 < argc && argv[i][0] == '-'; i += 2)
        if (strcmp(argv[i], "-port") == 0)
            port = (int)strtol(argv[i + 1], NULL, 10);
    for (; i < argc && n_bodies < 64; i++)
        bodies[n_bodies++] = body_load(argv[i]);
    if (n_bodies == 0) {
        fprintf(stderr, "usage: scrape_targets [-port N] PROFILE.pb.gz …\n");
        return 2;
    }
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    signal(SIGTERM, on_signal);
    signal(SIGINT, on_signal);
    poll_fd = epoll_create1(EPOLL_CLOEXEC);
    listener = open_listener(port);
    while (!ends) {
        int64_t wait = n_delayed ? (due_at(0) - now_ns()) / 1000000 + 1 : 1000;
        int n = epoll_wait(poll_fd, events, 256,
                           wait < 0      ? 0
                           : wait > 1000 ? 1000
                                         : (int)wait);

        for (int k = 0; k < n; k++) {
            if (events[k].data.fd == listener)
                accept_all(listener);
            else if (connections[events[k].data.fd])
                read_request(events[k].data.fd);
        }
        send_due();
    }
    report();
    return 0;
}
