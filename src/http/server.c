/*
 * Two kinds of threads share a server:
 *
 *   event thread   owns listener, epoll set and every connection
 *   workers        run handlers on complete requests (http/pool.h)
 */
#include "http/server.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "http/budget.h"
#include "http/connection.h"
#include "http/pool.h"
#include "http/rate.h"

#define SECOND         ((int64_t)1000000000)
#define STACK_BYTES    ((size_t)1 << 20)
#define EVENTS_AT_ONCE 64

/* What events may spend at once, so that a flood is not felt, and how long
 * the thread waits for more: probes have no patience. */
#define SAVED         (SECOND / 20)
#define LONGEST_PAUSE (SECOND / 10)

const struct http_limits http_default_limits = {
    .connections = 256,
    .workers = 16,
    .head_bytes = (size_t)16 << 10,
    .body_bytes = (size_t)1 << 20,
    .reply_bytes = (size_t)1 << 30,
    .head_timeout_ns = 10 * SECOND,
    .body_timeout_ns = 30 * SECOND,
    .idle_timeout_ns = 60 * SECOND,
    .write_timeout_ns = 30 * SECOND,
};

struct http_server {
    struct http_limits limits;
    bool (*at_once)(struct http_exchange *x, void *arg);
    void *arg;
    void (*thread_begins)(void), (*thread_ends)(void);
    void (*say)(void *arg, const char *words);
    struct tls_server *tls; /* NULL: plain */
    char address[HTTP_ADDRESS_MAX];
    int listener, epoll, wakeup;
    bool accepting; /* the listener is in the epoll set */
    /* Held while a descriptor is open that is not in the list: a forked
     * child closes those of the list. */
    pthread_mutex_t opening;
    struct connection *connections;
    unsigned n_connections;
    pthread_t thread;
    struct rate rate;
    struct budget budget; /* of the event thread */
    int64_t cpu_ns;       /* that it has used, when last looked at */
    struct pool pool;
};

/* --- connections ------------------------------------------------------ */

static void watch(struct http_server *s, struct connection *c, int op)
{
    struct epoll_event e = {.events = connection_events(c), .data.ptr = c};

    epoll_ctl(s->epoll, op, c->fd, &e);
}

static void set_accepting(struct http_server *s, bool on)
{
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = s};

    if (on != s->accepting)
        epoll_ctl(s->epoll, on ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, s->listener,
                  &e);
    s->accepting = on;
}

static void drop(struct http_server *s, struct connection *c)
{
    /* Closing is not enough: while a forked child has the socket, too, its
     * events would go on coming. */
    epoll_ctl(s->epoll, EPOLL_CTL_DEL, c->fd, NULL);
    pthread_mutex_lock(&s->opening);
    if (c->prev)
        c->prev->next = c->next;
    else
        s->connections = c->next;
    if (c->next)
        c->next->prev = c->prev;
    s->n_connections--;
    connection_free(c);
    pthread_mutex_unlock(&s->opening);
    set_accepting(s, true);
}

/* The client left while a worker has its request: tell the handler, and keep
 * the connection until it lets go. */
static void abandon_job(struct http_server *s, struct connection *c)
{
    epoll_ctl(s->epoll, EPOLL_CTL_DEL, c->fd, NULL);
    pool_abandon(&s->pool, c->job);
}

/* A complete request: answered here, or by a worker. */
static enum connection_next hand_over(struct http_server *s,
                                      struct connection *c)
{
    int status = 503;

    if (s->at_once && s->at_once(&c->job->x, s->arg)) {
        connection_finish_job(c, &s->limits);
        return connection_write(c, &s->limits);
    }
    if (!rate_allows(&s->rate, http_client_host(&c->client),
                     clock_monotonic_ns()))
        status = 429;
    else if (pool_add(&s->pool, c->job))
        return CONNECTION_WAIT;
    job_free(c->job);
    c->job = NULL;
    connection_refuse(c, status, &s->limits);
    return connection_write(c, &s->limits);
}

static void proceed(struct http_server *s, struct connection *c,
                    enum connection_next next)
{
    while (next == CONNECTION_HANDLE)
        next = hand_over(s, c);
    if (next == CONNECTION_CLOSE)
        drop(s, c);
    else
        watch(s, c, EPOLL_CTL_MOD);
}

static void on_socket(struct http_server *s, struct connection *c,
                      uint32_t events)
{
    if (c->state == CONNECTION_HANDLING)
        abandon_job(s, c);
    else if (c->state == CONNECTION_WRITING && (events & EPOLLERR))
        drop(s, c);
    else if (c->state == CONNECTION_WRITING)
        proceed(s, c, connection_write(c, &s->limits));
    else
        proceed(s, c, connection_read(c, &s->limits));
}

static void collect_done(struct http_server *s)
{
    struct job *job = pool_take_done(&s->pool);

    while (job) {
        struct job *next = job->next;
        struct connection *c = job->connection;

        if (job->gone) {
            drop(s, c); /* frees the job too */
        } else {
            connection_finish_job(c, &s->limits);
            proceed(s, c, connection_write(c, &s->limits));
        }
        job = next;
    }
}

/* Room for one more client: the one that has been silent longest goes. */
static void make_room(struct http_server *s)
{
    struct connection *oldest = NULL;

    if (s->n_connections < s->limits.connections)
        return;
    for (struct connection *c = s->connections; c; c = c->next)
        if ((c->state == CONNECTION_READING ||
             c->state == CONNECTION_LINGERING) &&
            (!oldest || c->deadline_ns < oldest->deadline_ns))
            oldest = c;
    if (oldest)
        drop(s, oldest);
    else
        set_accepting(s, false);
}

/* After each event: whoever floods us waits, so that the program does not. */
static void breathe(struct http_server *s)
{
    int64_t before = s->cpu_ns, wait;

    if (s->limits.cpu_percent == 0)
        return;
    s->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    wait = budget_spend(&s->budget, s->cpu_ns - before, clock_monotonic_ns());
    if (wait > 0 && !pool_is_stopping(&s->pool)) {
        struct timespec t =
            clock_timespec(wait < LONGEST_PAUSE ? wait : LONGEST_PAUSE);

        clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
    }
}

/* The kernel's word on who connected. */
static void know_unix_peer(struct connection *c)
{
    struct ucred peer = {.uid = (uid_t)-1};
    socklen_t len = sizeof(peer);
    int domain = AF_UNSPEC;
    socklen_t domain_len = sizeof(domain);

    getsockopt(c->fd, SOL_SOCKET, SO_DOMAIN, &domain, &domain_len);
    if (domain != AF_UNIX)
        return;
    c->client.is_unix = true;
    if (getsockopt(c->fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0)
        peer.uid = (uid_t)-1;
    c->client.uid = peer.uid;
}

static void add_connection(struct http_server *s, int fd,
                           const struct sockaddr_storage *addr)
{
    struct connection *c = calloc(1, sizeof(*c));

    if (c && s->tls) {
        c->tls = tls_accept(s->tls, fd);
        c->client.is_tls = true;
    }
    if (!c || (s->tls && !c->tls)) {
        free(c);
        close(fd);
        return;
    }
    c->fd = fd;
    c->is_fresh = true;
    c->in = BUF_INIT(s->limits.head_bytes + 2 * s->limits.body_bytes +
                     ((size_t)64 << 10));
    c->out = BUF_INIT(s->limits.reply_bytes + ((size_t)64 << 10));
    c->deadline_ns = clock_monotonic_ns() + s->limits.head_timeout_ns;
    http_print_address(addr, c->client.address);
    know_unix_peer(c);
    c->next = s->connections;
    if (c->next)
        c->next->prev = c;
    s->connections = c;
    s->n_connections++;
    watch(s, c, EPOLL_CTL_ADD);
}

static void refresh_certificate(struct http_server *s)
{
    struct error err;

    if (s->tls && !tls_server_refresh(s->tls, &err) && s->say) {
        error_wrap(&err, "the certificate in use stays, the new one is bad");
        s->say(s->arg, err.text);
    }
}

static void accept_clients(struct http_server *s)
{
    refresh_certificate(s);
    for (int i = 0; i < EVENTS_AT_ONCE; i++) {
        struct sockaddr_storage addr = {0};
        socklen_t len = sizeof(addr);
        int fd, failure;

        make_room(s);
        if (!s->accepting)
            return;
        pthread_mutex_lock(&s->opening);
        fd = accept4(s->listener, (struct sockaddr *)&addr, &len,
                     SOCK_CLOEXEC | SOCK_NONBLOCK);
        failure = errno;
        if (fd >= 0)
            add_connection(s, fd, &addr);
        pthread_mutex_unlock(&s->opening);
        if (fd < 0 && failure != EAGAIN && failure != EINTR &&
            failure != ECONNABORTED)
            set_accepting(s, false); /* no descriptors left: try again later */
        if (fd < 0)
            return;
        breathe(s);
    }
}

static void drop_expired(struct http_server *s)
{
    int64_t now = clock_monotonic_ns();

    for (struct connection *c = s->connections, *next; c; c = next) {
        next = c->next;
        if (c->state != CONNECTION_HANDLING && now > c->deadline_ns)
            drop(s, c);
    }
    set_accepting(s, s->n_connections < s->limits.connections);
}

static void *serve(void *arg)
{
    struct epoll_event events[EVENTS_AT_ONCE];
    struct http_server *s = arg;
    int64_t next_sweep = 0;

    if (s->thread_begins)
        s->thread_begins();

    while (!pool_is_stopping(&s->pool)) {
        bool idle = !s->connections && s->accepting;
        int n = epoll_wait(s->epoll, events, EVENTS_AT_ONCE, idle ? -1 : 1000);

        bool done = false, clients = false;

        /* Only its own event may drop a connection while the batch is being
         * read: what can drop others comes after. */
        for (int i = 0; i < n; i++) {
            void *source = events[i].data.ptr;

            done |= source == &s->wakeup;
            clients |= source == s;
            if (source != &s->wakeup && source != s) {
                on_socket(s, source, events[i].events);
                breathe(s);
            }
        }
        if (done)
            collect_done(s);
        if (clients)
            accept_clients(s);
        if (clock_monotonic_ns() >= next_sweep) {
            drop_expired(s);
            next_sweep = clock_monotonic_ns() + SECOND;
        }
    }
    for (struct connection *c = s->connections; c; c = c->next)
        if (c->job)
            pool_wake(&s->pool, c->job);
    if (s->thread_ends)
        s->thread_ends();
    return NULL;
}

/* --- life ------------------------------------------------------------- */

static bool open_descriptors(struct http_server *s, struct error *err)
{
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = &s->wakeup};

    s->epoll = epoll_create1(EPOLL_CLOEXEC);
    s->wakeup = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    s->pool.wakeup = s->wakeup;
    if (s->epoll < 0 || s->wakeup < 0 ||
        epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->wakeup, &e) != 0)
        return error_set_os(err, "listen", s->address, errno);
    set_accepting(s, true);
    return true;
}

static void close_descriptors(struct http_server *s)
{
    if (s->listener >= 0)
        close(s->listener);
    if (s->epoll >= 0)
        close(s->epoll);
    if (s->wakeup >= 0)
        close(s->wakeup);
}

static void init_limits(struct http_server *s)
{
    int64_t now = clock_monotonic_ns();

    s->rate =
        (struct rate){.per_minute = s->limits.requests, .seed = (uint64_t)now};
    budget_init(&s->budget, s->limits.cpu_percent, SAVED, now);
}

struct http_server *http_server_new(const struct http_server_options *options,
                                    struct error *err)
{
    struct http_server *s = calloc(1, sizeof(*s));
    int rc;

    if (!s) {
        error_set_os(err, "listen", options->address, ENOMEM);
        return NULL;
    }
    s->limits = options->limits ? *options->limits : http_default_limits;
    s->at_once = options->at_once;
    s->arg = options->arg;
    s->thread_begins = options->thread_begins;
    s->thread_ends = options->thread_ends;
    s->say = options->say;
    s->epoll = s->wakeup = -1;
    pthread_mutex_init(&s->opening, NULL);
    init_limits(s);
    pool_init(&s->pool, options, &s->limits);
    if (options->tls)
        s->tls = tls_server_new(options->tls, err);
    s->listener = options->tls && !s->tls
                      ? -1
                      : http_listen(options->address, options->unix_mode, err);
    if (s->listener >= 0) {
        http_listening_address(s->listener, s->address);
        if (open_descriptors(s, err)) {
            rc = thread_start(&s->thread, "pprof-http", STACK_BYTES, serve, s);
            if (rc == 0)
                return s;
            error_set_os(err, "start thread for", s->address, rc);
        }
    }
    close_descriptors(s);
    tls_server_free(s->tls);
    free(s);
    return NULL;
}

void http_server_free(struct http_server *s)
{
    if (!s)
        return;
    pool_stop(&s->pool);
    pthread_join(s->thread, NULL);
    pool_join(&s->pool);
    while (s->connections)
        drop(s, s->connections);
    if (strncmp(s->address, "unix:", 5) == 0)
        unlink(s->address + 5);
    close_descriptors(s);
    tls_server_free(s->tls);
    pthread_mutex_destroy(&s->opening);
    pool_release(&s->pool);
    free(s);
}

void http_server_before_fork(struct http_server *s)
{
    pthread_mutex_lock(&s->opening);
}

void http_server_after_fork(struct http_server *s)
{
    pthread_mutex_unlock(&s->opening);
}

void http_server_abandon(struct http_server *s)
{
    for (struct connection *c = s->connections; c; c = c->next)
        close(c->fd);
    close_descriptors(s);
}

const char *http_server_address(const struct http_server *s)
{
    return s->address;
}
