#ifndef HTTP_SERVER_SERVER_STATE_H
#define HTTP_SERVER_SERVER_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "http/server/budget.h"
#include "http/server/connection.h"
#include "http/server/lanes.h"
#include "http/server/limits.h"
#include "http/server/listener.h"
#include "http/server/peers.h"
#include "http/server/pool.h"
#include "http/server/rate.h"
#include "http/server/refusals.h"
#include "http/tls/tls.h"

/*
 * The server's internal state. server.c has start and stop, the listeners and
 * the event loop; connections.c the list of connections; requests.c serves
 * connections that are ready.  All of it belongs to the event thread, except
 * where a member says otherwise.
 */
struct http_server {
    struct http_limits limits;
    http_admit *admit;
    bool (*at_once)(struct http_exchange *x, void *arg);
    http_handler *handler;
    void *arg;
    void (*thread_begins)(void), (*thread_ends)(void);
    void (*say)(void *arg, const char *words);

    struct listener listeners[HTTP_LISTENERS_MAX];
    size_t n_listeners;
    int epoll, wakeup;
    bool accepting; /* the listeners are in the epoll set */
    pthread_t thread;

    /* Held while a descriptor is open that is not in the list: a forked
     * child closes those of the list. */
    pthread_mutex_t opening;
    struct connection *connections;
    unsigned n_connections;
    bool has_room;              /* a connection has ended: accept again */
    struct lanes lanes;         /* those that are ready */
    struct connection *current; /* the one that is being looked at */
    struct peers peers;
    bool known_changed; /* tell the listeners who is known */
    int64_t sorted_ns;  /* when they were last told */
    struct refusals refusals;
    struct connection_context context;
    char block[CONNECTION_BLOCK_BYTES];

    struct rate rate;       /* of addresses */
    struct rate known_rate; /* of clients that have authenticated */
    struct budget budget;   /* of the event thread */
    int64_t cpu_ns;         /* that it has used, when last looked at */
    int64_t paused_ns;      /* when the budget was last used up */
    struct pool pool;

    /* http_server_drain() sets the first and waits for the second. */
    atomic_bool is_draining;
    pthread_mutex_t drain_lock;
    pthread_cond_t drain_changed;
    bool is_drained; /* with drain_lock */
};

/* Tells epoll what the connection waits for. */
void connections_watch(struct http_server *s, struct connection *c, int op);

/* Lists a connection, or drops it. */
void connections_add(struct http_server *s, struct connection *c,
                     struct peer *peer);
void connections_drop(struct http_server *s, struct connection *c);

/* It is ready: into its lane. */
void connections_enqueue(struct http_server *s, struct connection *c);

/*
 * Chooses a connection to drop: of the address that has the most connections,
 * one that is idle or has cost the most.  NULL: all of them are being handled.
 */
struct connection *connections_worst(const struct http_server *s);

/* Drops it for a client at an address, with `opening` held.  False: the
 * newcomer has less right to be here. */
bool connections_replace(struct http_server *s, struct connection *worst,
                         const struct peer *newcomer);

/* Drops connections that have timed out. */
void connections_drop_expired(struct http_server *s);

/* Drops those that are idle; returns how many are busy. */
unsigned connections_drop_idle(struct http_server *s);

/* Looks at a connection whose socket is ready, whose job came back, or that
 * has more to do.  It may be gone afterwards. */
void requests_run(struct http_server *s, struct connection *c);

/* The client left, or was too slow, while the pool has its request: tells the
 * handler, and keeps the connection until the job comes back. */
void requests_abandon(struct http_server *s, struct connection *c);

/* Takes back what the pool has done. */
void requests_collect(struct http_server *s);

/* The pool's hook for requests that could not be admitted at once. */
bool requests_admit_in_worker(struct http_exchange *x, void *arg);
void requests_handle_in_worker(struct http_exchange *x, void *arg);

#endif
