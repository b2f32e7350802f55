#ifndef HTTP_SERVER_RATE_H
#define HTTP_SERVER_RATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/*
 * A rate limit: each client may send `per_minute` requests per minute, also in
 * one burst.  Remembers a fixed number of clients; if two share a place, the
 * busier one is remembered.  Not thread-safe.
 */
#define RATE_CLIENTS 256

struct rate {
    unsigned per_minute; /* 0: no limit */
    uint64_t seed;
    struct {
        uint64_t client;
        int64_t free_ns; /* past requests use up the rate until then */
    } places[RATE_CLIENTS];
};

/* Counts a request of a client ("10.0.0.1").  Returns true if it is within the
 * limit. */
bool rate_allows(struct rate *r, struct str client, int64_t now_ns);

/* Returns true if a request would be refused now.  Counts nothing. */
bool rate_is_used_up(const struct rate *r, struct str client, int64_t now_ns);

#endif
