/*
 * Two kinds of threads share a server:
 *
 *   event thread   owns listener, epoll set and every connection
 *   workers        take complete requests off `queue`, run the handler and
 *                  put the job on `done`
 *
 * `lock` protects queue, done, the worker counts and each job's `gone`;
 * everything else belongs to the event thread.  A worker wakes the event
 * thread through an eventfd, the event thread a waiting handler through the
 * job's condition.
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
#include "http/rate.h"

#define SECOND         ((int64_t)1000000000)
#define STACK_BYTES    ((size_t)1 << 20)
#define WORKER_IDLE    (5 * SECOND)
#define EVENTS_AT_ONCE 64

/* What may be spent at once: a flood shall not be felt, a few profiles shall
 * not wait. */
#define SAVED_FOR_EVENTS   (SECOND / 20)
#define SAVED_FOR_HANDLERS SECOND
#define LONGEST_PAUSE      (SECOND / 10) /* probes have no patience */

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
    http_handler *handler;
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
    struct budget for_events;
    int64_t cpu_ns; /* of the event thread, when last looked at */

    pthread_mutex_t lock;
    struct budget for_handlers;
    pthread_cond_t work;  /* queue has a job, or stopping */
    pthread_cond_t quiet; /* a worker has ended */
    struct job *queue, **queue_end;
    struct job *done;
    unsigned workers, idle_workers;
    bool stopping;
};

/* --- workers ---------------------------------------------------------- */

static struct job *next_job(struct http_server *s)
{
    struct timespec until = clock_timespec(clock_monotonic_ns() + WORKER_IDLE);
    struct job *job;
    int rc = 0;

    s->idle_workers++;
    while (!s->queue && !s->stopping && rc != ETIMEDOUT)
        rc = pthread_cond_timedwait(&s->work, &s->lock, &until);
    s->idle_workers--;
    job = s->queue;
    if (job) {
        s->queue = job->next;
        if (!s->queue)
            s->queue_end = &s->queue;
    }
    return job;
}

static void wake_event_thread(struct http_server *s)
{
    uint64_t one = 1;

    /* Can only fail when 2^64-1 wake-ups are pending. */
    (void)!write(s->wakeup, &one, sizeof(one));
}

/* Another's request has used up what handlers may: this one waits. */
static void wait_for_budget(struct http_server *s, struct job *job)
{
    int64_t wait = budget_spend(&s->for_handlers, 0, clock_monotonic_ns());

    while (wait > 0 && !job->gone && !s->stopping) {
        struct timespec until = clock_timespec(clock_monotonic_ns() + wait);

        pthread_cond_timedwait(&job->changed, &s->lock, &until);
        wait = budget_spend(&s->for_handlers, 0, clock_monotonic_ns());
    }
}

/* With the lock, but not while the handler runs. */
static void run_handler(struct http_server *s, struct job *job)
{
    int64_t cpu_ns;

    wait_for_budget(s, job);
    if (job->gone)
        return;
    pthread_mutex_unlock(&s->lock);
    cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    s->handler(&job->x, s->arg);
    cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
    pthread_mutex_lock(&s->lock);
    budget_spend(&s->for_handlers, cpu_ns, clock_monotonic_ns());
}

static void *work(void *arg)
{
    struct http_server *s = arg;
    struct job *job;

    if (s->thread_begins)
        s->thread_begins();
    pthread_mutex_lock(&s->lock);
    while ((job = next_job(s))) {
        run_handler(s, job);
        job->next = s->done;
        s->done = job;
        wake_event_thread(s);
    }
    /* Before anybody may think that all workers are gone. */
    if (s->thread_ends)
        s->thread_ends();
    s->workers--;
    pthread_cond_signal(&s->quiet);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* A worker for the job just queued: an idle one, or a new one.  False when
 * there is none at all. */
static bool have_worker(struct http_server *s)
{
    pthread_t thread;

    if (s->idle_workers > 0 || s->workers == s->limits.workers)
        return true;
    if (thread_start(&thread, "pprof-worker", STACK_BYTES, work, s) != 0)
        return s->workers > 0;
    pthread_detach(thread);
    s->workers++;
    return true;
}

bool http_exchange_wait(struct http_exchange *x, int64_t ns)
{
    struct job *job = (struct job *)x;
    struct http_server *s = job->server;
    struct timespec until = clock_timespec(clock_monotonic_ns() + ns);
    bool here;
    int rc = 0;

    pthread_mutex_lock(&s->lock);
    while (!job->gone && !s->stopping && rc != ETIMEDOUT)
        rc = pthread_cond_timedwait(&job->changed, &s->lock, &until);
    here = !job->gone && !s->stopping;
    pthread_mutex_unlock(&s->lock);
    return here;
}

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
    pthread_mutex_lock(&s->lock);
    c->job->gone = true;
    pthread_cond_signal(&c->job->changed);
    pthread_mutex_unlock(&s->lock);
}

static bool queue_job(struct http_server *s, struct job *job)
{
    bool taken;

    pthread_mutex_lock(&s->lock);
    taken = have_worker(s);
    if (taken) {
        *s->queue_end = job;
        s->queue_end = &job->next;
        pthread_cond_signal(&s->work);
    }
    pthread_mutex_unlock(&s->lock);
    return taken;
}

/* A complete request: answered here, or by a worker. */
static enum connection_next hand_over(struct http_server *s,
                                      struct connection *c)
{
    int status = 503;

    if (s->at_once && s->at_once(&c->job->x, s->arg)) {
        connection_finish_job(c, &s->limits);
        return connection_write(c, s, &s->limits);
    }
    if (!rate_allows(&s->rate, http_client_host(&c->client),
                     clock_monotonic_ns()))
        status = 429;
    else if (queue_job(s, c->job))
        return CONNECTION_WAIT;
    job_free(c->job);
    c->job = NULL;
    connection_refuse(c, status, &s->limits);
    return connection_write(c, s, &s->limits);
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
        proceed(s, c, connection_write(c, s, &s->limits));
    else
        proceed(s, c, connection_read(c, s, &s->limits));
}

static void collect_done(struct http_server *s)
{
    struct job *job;
    uint64_t count;

    (void)!read(s->wakeup, &count, sizeof(count));
    pthread_mutex_lock(&s->lock);
    job = s->done;
    s->done = NULL;
    pthread_mutex_unlock(&s->lock);
    while (job) {
        struct job *next = job->next;
        struct connection *c = job->connection;

        if (job->gone) {
            drop(s, c); /* frees the job too */
        } else {
            connection_finish_job(c, &s->limits);
            proceed(s, c, connection_write(c, s, &s->limits));
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

static bool is_stopping(struct http_server *s)
{
    bool stopping;

    pthread_mutex_lock(&s->lock);
    stopping = s->stopping;
    pthread_mutex_unlock(&s->lock);
    return stopping;
}

/* After each event: whoever floods us waits, so that the program does not. */
static void breathe(struct http_server *s)
{
    int64_t before = s->cpu_ns, wait;

    if (s->limits.cpu_percent == 0)
        return;
    s->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    wait =
        budget_spend(&s->for_events, s->cpu_ns - before, clock_monotonic_ns());
    if (wait > 0 && !is_stopping(s)) {
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

    while (!is_stopping(s)) {
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
    pthread_mutex_lock(&s->lock);
    for (struct connection *c = s->connections; c; c = c->next)
        if (c->job)
            pthread_cond_signal(&c->job->changed);
    pthread_mutex_unlock(&s->lock);
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

static void init_locks(struct http_server *s)
{
    pthread_condattr_t attr;

    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->opening, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&s->work, &attr);
    pthread_cond_init(&s->quiet, &attr);
    pthread_condattr_destroy(&attr);
}

static void init_limits(struct http_server *s)
{
    int64_t now = clock_monotonic_ns();

    s->rate =
        (struct rate){.per_minute = s->limits.requests, .seed = (uint64_t)now};
    budget_init(&s->for_events, s->limits.cpu_percent, SAVED_FOR_EVENTS, now);
    budget_init(&s->for_handlers, s->limits.cpu_percent, SAVED_FOR_HANDLERS,
                now);
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
    s->handler = options->handler;
    s->at_once = options->at_once;
    s->arg = options->arg;
    s->thread_begins = options->thread_begins;
    s->thread_ends = options->thread_ends;
    s->say = options->say;
    s->queue_end = &s->queue;
    s->epoll = s->wakeup = -1;
    init_locks(s);
    init_limits(s);
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
    pthread_mutex_lock(&s->lock);
    s->stopping = true;
    pthread_cond_broadcast(&s->work);
    wake_event_thread(s);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);

    pthread_mutex_lock(&s->lock);
    while (s->workers > 0)
        pthread_cond_wait(&s->quiet, &s->lock);
    pthread_mutex_unlock(&s->lock);
    while (s->connections)
        drop(s, s->connections);
    if (strncmp(s->address, "unix:", 5) == 0)
        unlink(s->address + 5);
    close_descriptors(s);
    tls_server_free(s->tls);
    pthread_mutex_destroy(&s->lock);
    pthread_mutex_destroy(&s->opening);
    pthread_cond_destroy(&s->work);
    pthread_cond_destroy(&s->quiet);
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
