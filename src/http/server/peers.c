/*
 * A set-associative table: an address can stand in four places, which is
 * enough to make sharing one rare, and nothing has to be moved or freed.
 */
#include "http/server/peers.h"

#include "base/clock.h"

#include <arpa/inet.h>
#include <assert.h>
#include <string.h>

#define KNOWN_NS (600 * SECOND)

/* Between the two answers that make an address known: longer than it takes a
 * flood to be felt. */
#define ACQUAINTANCE_NS (2 * SECOND)

/* Each look forgets the share of PEER_MEMORY_NS that has passed since the last
 * one.  That is smooth: steady use never looks like a burst. */
int64_t peer_use(struct peer *peer, int64_t cpu_ns, int64_t now_ns)
{
    int64_t passed_ns = now_ns - peer->since_ns;

    assert(cpu_ns >= 0);
    if (passed_ns >= PEER_MEMORY_NS)
        peer->used_ns = 0;
    else if (passed_ns > 0)
        peer->used_ns -= (int64_t)((double)peer->used_ns * (double)passed_ns /
                                   (double)PEER_MEMORY_NS);
    peer->since_ns = now_ns;
    peer->used_ns += cpu_ns;
    return peer->used_ns;
}

bool peer_trust(struct peer *peer, int64_t now_ns)
{
    bool is_new = !peer_is_known(peer, now_ns);

    peer->known_until_ns = now_ns + KNOWN_NS;
    return is_new;
}

bool peer_answered(struct peer *peer, bool is_calm, int64_t now_ns)
{
    if (is_calm && peer->met_ns == 0)
        peer->met_ns = now_ns;
    if (peer_is_known(peer, now_ns) ||
        (is_calm && now_ns - peer->met_ns >= ACQUAINTANCE_NS))
        return peer_trust(peer, now_ns);
    return false;
}

bool peer_is_known(const struct peer *peer, int64_t now_ns)
{
    return now_ns < peer->known_until_ns;
}

static bool is_better_place(struct peer *a, struct peer *b, int64_t now_ns)
{
    if (!a->connections != !b->connections)
        return !a->connections;
    if (!a->hash != !b->hash)
        return !a->hash;
    if (peer_is_known(a, now_ns) != peer_is_known(b, now_ns))
        return !peer_is_known(a, now_ns);
    return peer_use(a, 0, now_ns) < peer_use(b, 0, now_ns);
}

struct peer *peers_find(struct peers *p, struct str address, int64_t now_ns)
{
    uint64_t hash = str_hash_seeded(address, p->seed) | 1;
    struct peer *set = p->table[(hash >> 1) % PEERS_SETS];
    struct peer *place = &set[0];

    for (int i = 0; i < PEERS_WAYS; i++) {
        if (set[i].hash == hash)
            return &set[i];
        if (is_better_place(&set[i], place, now_ns))
            place = &set[i];
    }
    if (place->connections == 0) {
        *place = (struct peer){.hash = hash, .since_ns = now_ns};
        if (address.n < sizeof(place->address))
            memcpy(place->address, address.s, address.n);
    }
    return place;
}

static bool parse(const char *text, struct in6_addr *out)
{
    struct in_addr v4;

    if (inet_pton(AF_INET, text, &v4) != 1)
        return inet_pton(AF_INET6, text, out) == 1;
    memset(out, 0, sizeof(*out));
    out->s6_addr[10] = out->s6_addr[11] = 0xff;
    memcpy(&out->s6_addr[12], &v4, sizeof(v4));
    return true;
}

size_t peers_known(const struct peers *p, int64_t now_ns, struct in6_addr *out,
                   size_t max)
{
    const struct peer *first = &p->table[0][0];
    size_t n = 0;

    for (size_t i = 0; i < (size_t)PEERS_SETS * PEERS_WAYS && n < max; i++)
        if (first[i].hash && peer_is_known(&first[i], now_ns) &&
            parse(first[i].address, &out[n]))
            n++;
    return n;
}
