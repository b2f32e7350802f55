/*
 * The generic cell rate algorithm: one time stamp per client says when all
 * that it has asked for is paid off, and it may be a minute ahead.
 */
#include "http/server/rate.h"

#include "base/clock.h"

bool rate_is_used_up(const struct rate *r, struct str client, int64_t now_ns)
{
    uint64_t hash = str_hash_seeded(client, r->seed);
    size_t at = hash % RATE_CLIENTS;

    return r->per_minute != 0 && r->places[at].client == hash &&
           r->places[at].free_ns + MINUTE / r->per_minute > now_ns + MINUTE;
}

bool rate_allows(struct rate *r, struct str client, int64_t now_ns)
{
    uint64_t hash = str_hash_seeded(client, r->seed);
    size_t at = hash % RATE_CLIENTS;
    int64_t free_ns = r->places[at].free_ns;
    bool is_other = r->places[at].client != hash;

    if (r->per_minute == 0)
        return true;
    if (free_ns < now_ns || is_other)
        free_ns = now_ns;
    free_ns += MINUTE / r->per_minute;
    if (free_ns > now_ns + MINUTE)
        return false;
    if (!is_other || free_ns >= r->places[at].free_ns) {
        r->places[at].client = hash;
        r->places[at].free_ns = free_ns;
    }
    return true;
}
