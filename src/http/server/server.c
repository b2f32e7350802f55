/*
 * Two kinds of threads share a server:
 *
 *   event thread   owns the listeners, the epoll set and every connection
 *   workers        run handlers on complete requests (http/server/pool.h)
 *
 * The event thread collects what has become ready, then works through it one
 * connection at a time.  Nothing is dropped while epoll's answers are being
 * read, so that no answer can name a connection that is gone.
 */
#include "http/server/server.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/own_fd.h"
#include "base/secret_file.h"
#include "base/thread.h"
#include "http/server/server_state.h"

#define STACK_BYTES    ((size_t)1 << 20)
#define EVENTS_AT_ONCE 64

/* What events may spend at once, so that a flood is not felt, and how long
 * the thread waits for more: probes have no patience. */
#define SAVED         (SECOND / 20)
#define LONGEST_PAUSE (SECOND / 10)

/* Addresses that are no longer known lose their queue after this time. */
#define SORT_AGAIN_NS (60 * SECOND)

#define ACCEPTS_PER_TURN 16
#define NOMINAL_TURN_NS  1000 /* where CPU time is not measured */

/* --- accepting ---------------------------------------------------------- */

static const enum lane accept_lanes[N_QUEUES] = {
    [QUEUE_STRANGERS] = LANE_ACCEPT, [QUEUE_KNOWN] = LANE_KNOWN_ACCEPT};

static void set_accepting(struct http_server *s, bool on)
{
    if (on == s->accepting)
        return;
    for (size_t i = 0; i < s->n_listeners * N_QUEUES; i++) {
        struct listener *l = &s->listeners[i / N_QUEUES];
        unsigned q = i % N_QUEUES;
        struct epoll_event e = {.events = EPOLLIN, .data.ptr = &l->queue[q]};

        if (l->queue[q].fd >= 0)
            epoll_ctl(s->epoll, on ? EPOLL_CTL_ADD : EPOLL_CTL_DEL,
                      l->queue[q].fd, &e);
        l->queue[q].is_ready = false;
    }
    for (int q = 0; q < N_QUEUES; q++)
        lanes_set_accept(&s->lanes, accept_lanes[q], false);
    s->accepting = on;
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

/* With `opening`; owns the socket.  `worst` has to go, or is NULL. */
static void add_connection(struct http_server *s, const struct listener *l,
                           int fd, const struct sockaddr_storage *addr,
                           struct connection *worst)
{
    struct connection *c = connection_new(fd, &s->limits);
    char room[HTTP_NETWORK_MAX];
    struct peer *peer;

    if (!c) {
        own_fd_close(fd);
        return;
    }
    c->tls_server = l->tls;
    http_print_address(addr, c->client.address);
    know_unix_peer(c);
    peer = peers_find(&s->peers, http_client_network(&c->client, room),
                      clock_monotonic_ns());
    if (worst && !connections_replace(s, worst, peer)) {
        connection_free(c);
        return;
    }
    connections_add(s, c, peer);
}

static void refresh_certificate(struct http_server *s, struct listener *l)
{
    struct error err;

    if (l->tls && !tls_server_refresh(l->tls, &err) && s->say) {
        error_wrap(&err,
                   "the new certificate is invalid; the old one stays in use");
        s->say(s->arg, err.text);
    }
}

static void refresh_certificates(struct http_server *s)
{
    for (size_t i = 0; i < s->n_listeners; i++)
        refresh_certificate(s, &s->listeners[i]);
}

/* One client from a queue of the listener; false: there is none. */
static bool accept_client(struct http_server *s, struct listener *l, int queue)
{
    bool is_full = s->n_connections >= s->limits.connections;
    struct connection *worst = is_full ? connections_worst(s) : NULL;
    struct sockaddr_storage addr = {0};
    socklen_t len = sizeof(addr);
    int fd, failure;

    if (is_full && !worst) {
        set_accepting(s, false);
        return false;
    }
    pthread_mutex_lock(&s->opening);
    own_fd_begin();
    fd = accept4(l->queue[queue].fd, (struct sockaddr *)&addr, &len,
                 SOCK_CLOEXEC | SOCK_NONBLOCK);
    failure = errno;
    own_fd_note(fd);
    if (fd >= 0)
        add_connection(s, l, fd, &addr, worst);
    pthread_mutex_unlock(&s->opening);
    if (fd < 0 && failure != EAGAIN && failure != EINTR &&
        failure != ECONNABORTED)
        set_accepting(s, false); /* no descriptors left: try again later */
    return fd >= 0;
}

/* A turn of a lane of new connections. */
static void accept_clients(struct http_server *s, enum lane lane)
{
    int queue = lane == LANE_KNOWN_ACCEPT ? QUEUE_KNOWN : QUEUE_STRANGERS;
    bool is_ready = false;

    for (size_t i = 0; i < s->n_listeners; i++) {
        struct listener *l = &s->listeners[i];
        int n = 0;

        if (!l->queue[queue].is_ready || !s->accepting)
            continue;
        refresh_certificate(s, l);
        while (n < ACCEPTS_PER_TURN && accept_client(s, l, queue))
            n++;
        l->queue[queue].is_ready = n == ACCEPTS_PER_TURN;
        is_ready |= l->queue[queue].is_ready;
    }
    lanes_set_accept(&s->lanes, lane, is_ready);
}

/* Tells the listeners who is known.  If the kernel refuses, those who were
 * known before keep their queue: that is all there is to lose. */
static void sort_clients(struct http_server *s)
{
    struct in6_addr known[LISTENER_KNOWN_MAX];
    int64_t now_ns = clock_monotonic_ns();
    size_t n;

    if (!s->known_changed && now_ns - s->sorted_ns < SORT_AGAIN_NS)
        return;
    n = peers_known(&s->peers, now_ns, known, LISTENER_KNOWN_MAX);

    for (size_t i = 0; i < s->n_listeners; i++)
        (void)listener_set_known(&s->listeners[i], known, n);
    s->known_changed = false;
    s->sorted_ns = now_ns;
}

/* --- the event thread ---------------------------------------------------- */

/* `queue` of a listener has new connections. */
static void note_newcomers(struct http_server *s, const void *queue)
{
    for (size_t i = 0; i < s->n_listeners * N_QUEUES; i++) {
        struct listener *l = &s->listeners[i / N_QUEUES];
        unsigned q = i % N_QUEUES;

        if (queue != &l->queue[q])
            continue;
        l->queue[q].is_ready = true;
        lanes_set_accept(&s->lanes, accept_lanes[q], true);
    }
}

/* Notes what epoll says; nothing is done yet. */
static void note_events(struct http_server *s, const struct epoll_event *events,
                        int n)
{
    for (int i = 0; i < n; i++) {
        void *source = events[i].data.ptr;

        if (source == &s->wakeup) {
            requests_collect(s);
        } else if (source >= (void *)s->listeners &&
                   source < (void *)(s->listeners + HTTP_LISTENERS_MAX)) {
            note_newcomers(s, source);
        } else {
            struct connection *c = source;

            c->events |= events[i].events;
            connections_enqueue(s, c);
        }
    }
}

/*
 * Charges what a turn has cost to its lane, its address and the budget, and
 * pauses when that is used up, so that a flood waits and the program does not.
 * True: it was used up; check again what is ready.
 */
static bool pay(struct http_server *s, enum lane lane, struct peer *peer)
{
    int64_t before = s->cpu_ns, now_ns, cpu_ns, wait;

    if (s->limits.cpu_percent == 0) {
        lanes_charge(&s->lanes, lane, NOMINAL_TURN_NS);
        return false;
    }
    s->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    now_ns = clock_monotonic_ns();
    cpu_ns = s->cpu_ns - before;
    lanes_charge(&s->lanes, lane, cpu_ns);
    if (peer)
        peer_use(peer, cpu_ns, now_ns);
    if (s->current)
        s->current->cpu_ns += cpu_ns;
    wait = budget_spend(&s->budget, cpu_ns, now_ns);
    if (wait > 0)
        s->paused_ns = now_ns;
    if (wait > 0 && !pool_is_stopping(&s->pool)) {
        struct timespec t =
            clock_timespec(wait < LONGEST_PAUSE ? wait : LONGEST_PAUSE);

        clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
    }
    return wait > 0;
}

/* A turn for each that is ready, as far as the budget allows. */
static void run_lanes(struct http_server *s)
{
    enum lane lane;

    for (unsigned n = s->lanes.n + N_QUEUES; n > 0; n--) {
        struct peer *peer = NULL;

        if (!lanes_next(&s->lanes, &lane))
            return;
        if (lane_is_for_accepting(lane)) {
            accept_clients(s, lane);
        } else {
            s->current = lanes_take(&s->lanes, lane);
            peer = s->current->peer;
            requests_run(s, s->current);
        }
        if (pay(s, lane, peer))
            n = 1;
        s->current = NULL;
    }
}

static void close_listeners(struct http_server *s)
{
    set_accepting(s, false);
    for (size_t i = 0; i < s->n_listeners; i++)
        listener_close(&s->listeners[i]);
}

static void drain(struct http_server *s)
{
    close_listeners(s);
    s->context.is_closing = true;
    if (connections_drop_idle(s) > 0)
        return;
    pthread_mutex_lock(&s->drain_lock);
    s->is_drained = true;
    pthread_cond_broadcast(&s->drain_changed);
    pthread_mutex_unlock(&s->drain_lock);
}

/* How long epoll may wait, in ms. */
static int patience(const struct http_server *s)
{
    if (!lanes_are_empty(&s->lanes))
        return 0;
    return s->connections || !s->accepting || s->known_changed ? 1000 : -1;
}

static void end_requests(struct http_server *s)
{
    for (struct connection *c = s->connections; c; c = c->next)
        if (connection_is_in_pool(c))
            pool_abandon(&s->pool, c->job);
}

/* The program has closed our descriptors with its own, and what now has their
 * numbers is not ours to use or to close. */
static void lose_descriptors(struct http_server *s)
{
    pthread_mutex_lock(&s->opening);
    for (struct connection *c = s->connections; c; c = c->next)
        c->fd = own_fd_lose(c->fd);
    for (size_t i = 0; i < s->n_listeners; i++)
        listener_lose(&s->listeners[i]);
    s->epoll = own_fd_lose(s->epoll);
    pthread_mutex_lock(&s->pool.lock);
    s->wakeup = s->pool.wakeup = own_fd_lose(s->wakeup);
    pthread_mutex_unlock(&s->pool.lock);
    pthread_mutex_unlock(&s->opening);
    if (s->say)
        s->say(s->arg, "the server has ended: the program has closed all its "
                       "file descriptors");
}

static void *serve(void *arg)
{
    struct epoll_event events[EVENTS_AT_ONCE];
    struct http_server *s = arg;
    int64_t next_sweep = 0;

    if (s->thread_begins)
        s->thread_begins();
    while (!pool_is_stopping(&s->pool)) {
        int n = epoll_wait(s->epoll, events, EVENTS_AT_ONCE, patience(s));

        if (n < 0 && errno != EINTR) {
            lose_descriptors(s);
            break;
        }
        note_events(s, events, n);
        run_lanes(s);
        if (atomic_load(&s->is_draining))
            drain(s);
        if (clock_monotonic_ns() >= next_sweep) {
            connections_drop_expired(s);
            refresh_certificates(s);
            sort_clients(s);
            next_sweep = clock_monotonic_ns() + SECOND;
            s->has_room = true; /* descriptors may be there again */
        }
        if (s->has_room && !atomic_load(&s->is_draining))
            set_accepting(s, true);
        s->has_room = false;
    }
    end_requests(s);
    if (s->thread_ends)
        s->thread_ends();
    return NULL;
}

/* --- life ------------------------------------------------------------- */

static bool open_listener(struct http_server *s, const struct http_listener *o,
                          struct error *err)
{
    struct listener *l = &s->listeners[s->n_listeners];

    if (o->tls) {
        l->tls = tls_server_new(o->tls, err);
        if (!l->tls)
            return false;
        secret_file_warn(o->tls->key, s->say, s->arg);
    }
    if (!listener_open(l, o->address, o->unix_mode, err)) {
        tls_server_free(l->tls);
        return false;
    }
    s->n_listeners++;
    return true;
}

static bool open_listeners(struct http_server *s,
                           const struct http_server_options *o,
                           struct error *err)
{
    struct http_listener first = {o->address, o->unix_mode, o->tls};
    bool ok = open_listener(s, &first, err);

    assert(o->n_more_listeners < HTTP_LISTENERS_MAX);
    for (size_t i = 0; ok && i < o->n_more_listeners; i++)
        ok = open_listener(s, &o->more_listeners[i], err);
    return ok;
}

static bool open_descriptors(struct http_server *s, struct error *err)
{
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = &s->wakeup};

    own_fd_begin();
    s->epoll = own_fd_keep(epoll_create1(EPOLL_CLOEXEC));
    own_fd_begin();
    s->wakeup = own_fd_keep(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    s->pool.wakeup = s->wakeup;
    if (s->epoll < 0 || s->wakeup < 0 ||
        epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->wakeup, &e) != 0)
        return error_set_os(err, "listen", s->listeners[0].address, errno);
    set_accepting(s, true);
    return true;
}

static void close_descriptors(struct http_server *s)
{
    own_fd_close(s->epoll);
    own_fd_close(s->wakeup);
}

static void release(struct http_server *s)
{
    close_listeners(s);
    close_descriptors(s);
    for (size_t i = 0; i < s->n_listeners; i++)
        tls_server_free(s->listeners[i].tls);
    pthread_mutex_destroy(&s->opening);
    pthread_mutex_destroy(&s->drain_lock);
    pthread_cond_destroy(&s->drain_changed);
    pool_release(&s->pool);
    free(s);
}

static void init_locks(struct http_server *s)
{
    pthread_condattr_t attr;

    pthread_mutex_init(&s->opening, NULL);
    pthread_mutex_init(&s->drain_lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&s->drain_changed, &attr);
    pthread_condattr_destroy(&attr);
}

static void init(struct http_server *s, const struct http_server_options *o)
{
    int64_t now = clock_monotonic_ns();

    s->limits = o->limits ? *o->limits : http_default_limits;
    s->admit = o->admit;
    s->at_once = o->at_once;
    s->handler = o->handler;
    s->arg = o->arg;
    s->thread_begins = o->thread_begins;
    s->thread_ends = o->thread_ends;
    s->say = o->say;
    s->epoll = s->wakeup = -1;
    s->peers.seed = (uint64_t)now;
    s->context.limits = &s->limits;
    s->context.block = s->block;
    s->rate =
        (struct rate){.per_minute = s->limits.requests, .seed = (uint64_t)now};
    s->known_rate = s->rate;
    budget_init(&s->budget, s->limits.cpu_percent, SAVED, now);
    init_locks(s);
    pool_init(&s->pool,
              &(struct pool_options){.handler = requests_handle_in_worker,
                                     .admit = requests_admit_in_worker,
                                     .arg = s,
                                     .thread_begins = o->thread_begins,
                                     .thread_ends = o->thread_ends,
                                     .max_workers = s->limits.workers,
                                     .cpu_percent = s->limits.cpu_percent});
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
    init(s, options);
    if (open_listeners(s, options, err) && open_descriptors(s, err)) {
        rc = thread_start(&s->thread, "pprof-http", STACK_BYTES, serve, s);
        if (rc == 0)
            return s;
        error_set_os(err, "start thread for", s->listeners[0].address, rc);
    }
    release(s);
    return NULL;
}

bool http_server_drain(struct http_server *s, int64_t patience_ns)
{
    struct timespec until = clock_timespec(clock_monotonic_ns() + patience_ns);
    bool is_drained;
    int rc = 0;

    atomic_store(&s->is_draining, true);
    pool_wake(&s->pool);
    pthread_mutex_lock(&s->drain_lock);
    while (!s->is_drained && rc != ETIMEDOUT)
        rc = pthread_cond_timedwait(&s->drain_changed, &s->drain_lock, &until);
    is_drained = s->is_drained;
    pthread_mutex_unlock(&s->drain_lock);
    return is_drained;
}

void http_server_free(struct http_server *s)
{
    if (!s)
        return;
    pool_stop(&s->pool);
    pthread_join(s->thread, NULL);
    pool_join(&s->pool);
    requests_collect(s); /* none of them is in the pool any more */
    while (s->connections)
        connections_drop(s, s->connections);
    release(s);
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
        own_fd_close(c->fd);
    for (size_t i = 0; i < s->n_listeners; i++)
        listener_abandon(&s->listeners[i]);
    close_descriptors(s);
}

const char *http_server_address(const struct http_server *s)
{
    return s->listeners[0].address;
}

const char *http_server_address_at(const struct http_server *s, size_t i)
{
    return i < s->n_listeners ? s->listeners[i].address : NULL;
}
