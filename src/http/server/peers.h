#ifndef HTTP_SERVER_PEERS_H
#define HTTP_SERVER_PEERS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/*
 * Client addresses (http_client_network()): how much CPU time each has used of
 * late, how many connections it has, and whether it is known.
 *
 * An address is known for a while when one of its clients has authenticated,
 * or when it was answered twice, some time apart, while there was no flood: a
 * kubelet is known by its probes before an attack begins.
 *
 * A table of fixed size.  An address keeps its place while it has connections;
 * otherwise unknown addresses are replaced before known ones.  If all places
 * are taken, addresses share one and are treated alike.  For one thread.
 */
#define PEER_MEMORY_NS ((int64_t)3 * 1000000000)

#define PEERS_WAYS 4
#define PEERS_SETS 128

#define PEER_ADDRESS_MAX 46 /* an IPv6 address and a NUL */

struct peer {
    uint64_t hash; /* of the address; 0: free */
    char address[PEER_ADDRESS_MAX];
    unsigned connections;
    int64_t used_ns;  /* of the CPU; what is older counts for less */
    int64_t since_ns; /* when that was last seen to */
    int64_t known_until_ns;
    int64_t met_ns;          /* first answered while there was no flood */
    int64_t wasted_until_ns; /* it made a TLS handshake, but no request */
    /* Refusals, for the log (http/server/refusals.h). */
    int64_t told_ns;
    unsigned untold;
};

struct peers {
    uint64_t seed;
    struct peer table[PEERS_SETS][PEERS_WAYS];
};

/* The place of an address ("10.0.0.1"). */
struct peer *peers_find(struct peers *p, struct str address, int64_t now_ns);

/* CPU time used of late, after adding some: about what it uses in
 * PEER_MEMORY_NS while it uses the same all the time. */
int64_t peer_use(struct peer *peer, int64_t cpu_ns, int64_t now_ns);

/* A client at the address has authenticated; or was answered, in calm or
 * during a flood.  Returns true if the address has become known by this. */
bool peer_trust(struct peer *peer, int64_t now_ns);
bool peer_answered(struct peer *peer, bool is_calm, int64_t now_ns);
bool peer_is_known(const struct peer *peer, int64_t now_ns);

/* The known addresses, at most `max`; IPv4 is written ::ffff:a.b.c.d.  Returns
 * how many. */
size_t peers_known(const struct peers *p, int64_t now_ns, struct in6_addr *out,
                   size_t max);

#endif
