#ifndef HTTP_SERVER_RATE_H
#define HTTP_SERVER_RATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/*
 * How often each client may ask: so many times a minute, all at once if it
 * likes.  Remembers a fixed number of clients; of two that fall into the same
 * place the busier one is remembered.  For one thread.
 */
#define RATE_CLIENTS 256

struct rate {
    unsigned per_minute; /* 0: as often as it likes */
    uint64_t seed;
    struct {
        uint64_t client;
        int64_t free_ns; /* when all that it has asked is paid for */
    } places[RATE_CLIENTS];
};

/* Counts one request of a client ("10.0.0.1") at a time; may it be had? */
bool rate_allows(struct rate *r, struct str client, int64_t now_ns);

/* Would it be refused one now?  Counts nothing. */
bool rate_is_used_up(const struct rate *r, struct str client, int64_t now_ns);

#endif
