#ifndef HTTP_SERVER_LANES_H
#define HTTP_SERVER_LANES_H

#include "http/server/connection.h"

/*
 * The order in which ready connections are served.
 *
 * Lanes that have work share the event thread's CPU time by weight, so that a
 * flood in one lane does not keep the others waiting.  lane_choose() assigns
 * connections to lanes:
 *
 *     trusted            the client has authenticated
 *     known, known_hello a known address (http/server/peers.h): requests, and
 *                        TLS handshakes, which cost much more
 *     known_accept       new connections from known addresses
 *     accept             other new connections
 *     plain, hello       everybody else
 *
 * Within a lane there are two ranks.  The higher one goes first, except for
 * every fourth turn.  Connections of a rank take turns in the order in which
 * they became ready.  Handshakes go in reverse order: the client that has
 * waited longest has probably given up, and serving such clients first would
 * make all others wait too long.
 */
enum lane {
    LANE_TRUSTED,
    LANE_KNOWN,
    LANE_KNOWN_HELLO,
    LANE_KNOWN_ACCEPT, /* these two have no connections, but may be ready */
    LANE_ACCEPT,
    LANE_PLAIN,
    LANE_HELLO,
    N_LANES,
};

#define LANE_RANKS 2

struct lane_queue {
    struct connection *first, *last;
};

struct lanes {
    struct {
        struct lane_queue ranks[LANE_RANKS];
        int64_t spent_ns;
        unsigned turns;
        bool is_ready; /* there are connections to accept */
    } lane[N_LANES];
    int64_t floor_ns; /* a lane that was empty starts from here */
    unsigned n;       /* connections in all lanes */
};

#define LANE_MANY_REQUESTS 64 /* on one connection, not authenticated */

/* What is known of a connection and its address. */
struct lane_facts {
    bool is_trusted, is_shaking_hands;
    bool is_known, is_heavy; /* the address */
    unsigned answered;       /* requests on the connection */
};

/*
 * Chooses the lane, and the rank in it.  A known address has lanes of its own;
 * a heavy user has the lower rank there.  It is not moved to the lanes of
 * unknown addresses: if the budget is small or the CPU busy, a few probes over
 * TLS take half of it, and among unknown addresses a flood of handshakes would
 * keep them waiting.  A connection that was never answered is preferred to one
 * that was: it may be a probe that shares its address with a flood.
 */
enum lane lane_choose(const struct lane_facts *f, unsigned *rank);

/* Adds a connection; one that is queued already stays where it is. */
void lanes_add(struct lanes *l, struct connection *c, enum lane lane,
               unsigned rank);
void lanes_remove(struct lanes *l, struct connection *c);

/* There are new connections for a lane of these to accept, or none any
 * more. */
void lanes_set_accept(struct lanes *l, enum lane lane, bool is_ready);

bool lane_is_for_accepting(enum lane lane);

/* Is there nothing to do? */
bool lanes_are_empty(const struct lanes *l);

/* The lane whose turn it is; false: there is nothing to do. */
bool lanes_next(struct lanes *l, enum lane *out);

/* The connection whose turn it is, taken out of the lane. */
struct connection *lanes_take(struct lanes *l, enum lane lane);

/* CPU time that a turn of the lane has cost. */
void lanes_charge(struct lanes *l, enum lane lane, int64_t cpu_ns);

#endif
