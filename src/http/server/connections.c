/*
 * The list of connections: which is served next, and which is dropped.  The
 * list changes under `opening`, because a forked child closes what is in it.
 */
#include <assert.h>
#include <sys/epoll.h>

#include "base/clock.h"
#include "http/server/server_state.h"

#define WASTE_NS (30 * SECOND)
#define SLOW_NS  (2 * SECOND) /* for a handshake, or half a request */

void connections_watch(struct http_server *s, struct connection *c, int op)
{
    struct epoll_event e = {.events = connection_events(c), .data.ptr = c};

    if (op == EPOLL_CTL_MOD && c->watched == e.events)
        return;
    c->watched = e.events;
    epoll_ctl(s->epoll, op, c->fd, &e);
}

void connections_add(struct http_server *s, struct connection *c,
                     struct peer *peer)
{
    c->next = s->connections;
    if (c->next)
        c->next->prev = c;
    s->connections = c;
    s->n_connections++;
    c->peer = peer;
    peer->connections++;
    connections_watch(s, c, EPOLL_CTL_ADD);
}

/* Returns true if the address has used half of all CPU time for a while, or
 * made handshakes without a request. */
static bool is_heavy(const struct http_server *s, struct peer *peer,
                     int64_t now_ns)
{
    int64_t a_second = (int64_t)s->limits.cpu_percent * (SECOND / 100);

    return now_ns < peer->wasted_until_ns ||
           peer_use(peer, 0, now_ns) > a_second * 3 / 2;
}

static enum lane lane_of(const struct http_server *s, struct connection *c,
                         unsigned *rank)
{
    int64_t now_ns = clock_monotonic_ns();

    return lane_choose(
        &(struct lane_facts){
            .is_trusted = c->is_trusted,
            .is_shaking_hands = connection_is_shaking_hands(c),
            .is_known = peer_is_known(c->peer, now_ns),
            .is_heavy =
                s->limits.cpu_percent > 0 && is_heavy(s, c->peer, now_ns),
            .answered = c->answered,
        },
        rank);
}

/* A handshake without a request is held against its address for a while; but
 * a known one may have lost patience with us. */
static void note_waste(struct connection *c)
{
    int64_t now_ns = clock_monotonic_ns();

    if (c->tls && c->answered == 0 && !peer_is_known(c->peer, now_ns))
        c->peer->wasted_until_ns = now_ns + WASTE_NS;
}

void connections_enqueue(struct http_server *s, struct connection *c)
{
    unsigned rank;
    enum lane lane;

    if (c->is_queued)
        return;
    lane = lane_of(s, c, &rank);
    lanes_add(&s->lanes, c, lane, rank);
}

/* With `opening`. */
static void drop(struct http_server *s, struct connection *c)
{
    assert(s->n_connections > 0);
    assert(!connection_is_in_pool(c));
    /* Closing is not enough: while a forked child has the socket, too, its
     * events would go on coming. */
    epoll_ctl(s->epoll, EPOLL_CTL_DEL, c->fd, NULL);
    lanes_remove(&s->lanes, c);
    if (s->current == c)
        s->current = NULL;
    note_waste(c);
    assert(c->peer->connections > 0);
    c->peer->connections--;
    s->context.request_memory -= c->request_memory;
    s->context.reply_memory -= c->reply_memory;
    if (c->prev)
        c->prev->next = c->next;
    else
        s->connections = c->next;
    if (c->next)
        c->next->prev = c->prev;
    s->n_connections--;
    s->has_room = true;
    connection_free(c);
}

void connections_drop(struct http_server *s, struct connection *c)
{
    pthread_mutex_lock(&s->opening);
    drop(s, c);
    pthread_mutex_unlock(&s->opening);
}

/*
 * How easily a connection can be done without; 0: not at all.  What has been
 * answered can go before what waits for its first answer, and strangers
 * before known addresses.
 */
enum {
    IN_POOL,
    PREFERRED, /* it has authenticated, or its address is known */
    UNDER_WAY, /* it has something to do, or shakes hands */
    SLOW,      /* half a request, or a reply that the client does not read */
    SILENT,    /* nothing has ever come */
    IDLE,      /* between requests */
    LINGERING,
};

static int uselessness(const struct connection *c, int64_t now_ns)
{
    if (connection_is_in_pool(c) || (c->job && c->is_done))
        return IN_POOL;
    if (c->state == CONNECTION_LINGERING)
        return LINGERING;
    if (c->is_trusted || (c->answered == 0 && peer_is_known(c->peer, now_ns)))
        return PREFERRED;
    if (c->is_queued ||
        (c->tls && c->answered == 0 && now_ns - c->since_ns < SLOW_NS))
        return UNDER_WAY;
    if (!connection_is_idle(c) || connection_has_output(c))
        return SLOW;
    return c->answered ? IDLE : SILENT;
}

/* Returns true if `a` is to be dropped rather than `b`: the address with more
 * connections first, but never a preferred one in favour of an unknown one. */
static bool is_worse(const struct connection *a, const struct connection *b,
                     int64_t now_ns)
{
    int useless_a = uselessness(a, now_ns), useless_b = uselessness(b, now_ns);

    if ((useless_a <= PREFERRED) != (useless_b <= PREFERRED))
        return useless_b <= PREFERRED;
    if (a->peer->connections != b->peer->connections)
        return a->peer->connections > b->peer->connections;
    if (useless_a != useless_b)
        return useless_a > useless_b;
    if (a->answered / LANE_MANY_REQUESTS != b->answered / LANE_MANY_REQUESTS)
        return a->answered > b->answered;
    return true; /* further down the list: older */
}

/* Without authentication, it was answered often, or has kept us waiting. */
static bool has_had_its_share(const struct connection *c, int64_t now_ns)
{
    int useless = uselessness(c, now_ns);

    return useless >= SILENT ||
           (useless == SLOW && now_ns - c->since_ns >= SLOW_NS) ||
           (useless > PREFERRED && c->answered >= LANE_MANY_REQUESTS);
}

/* A stranger does not make a connection end that waits for its answer, unless
 * its address has more of them: else each would drive out the other for
 * ever. */
static bool may_replace(const struct peer *newcomer, const struct connection *c,
                        int64_t now_ns)
{
    return peer_is_known(newcomer, now_ns) || has_had_its_share(c, now_ns) ||
           c->peer->connections > newcomer->connections + 1;
}

struct connection *connections_worst(const struct http_server *s)
{
    int64_t now_ns = clock_monotonic_ns();
    struct connection *worst = NULL;

    for (struct connection *c = s->connections; c; c = c->next)
        if (uselessness(c, now_ns) != IN_POOL &&
            (!worst || is_worse(c, worst, now_ns)))
            worst = c;
    return worst;
}

bool connections_replace(struct http_server *s, struct connection *worst,
                         const struct peer *newcomer)
{
    if (!may_replace(newcomer, worst, clock_monotonic_ns()))
        return false;
    drop(s, worst);
    return true;
}

void connections_drop_expired(struct http_server *s)
{
    int64_t now = clock_monotonic_ns();

    for (struct connection *c = s->connections, *next; c; c = next) {
        next = c->next;
        if (now <= c->deadline_ns || c->is_abandoned)
            continue;
        if (!connection_is_in_pool(c))
            connections_drop(s, c);
        else if (connection_has_output(c)) /* of a streamed reply */
            requests_abandon(s, c);
    }
}

unsigned connections_drop_idle(struct http_server *s)
{
    unsigned busy = 0;

    for (struct connection *c = s->connections, *next; c; c = next) {
        next = c->next;
        if (c->state == CONNECTION_READING && connection_is_idle(c))
            connections_drop(s, c);
        else
            busy += c->state != CONNECTION_LINGERING;
    }
    return busy;
}
