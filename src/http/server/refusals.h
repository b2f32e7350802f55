#ifndef HTTP_SERVER_REFUSALS_H
#define HTTP_SERVER_REFUSALS_H

#include "http/server/exchange.h"
#include "http/server/peers.h"

/*
 * A log of refused requests that cannot be flooded: at most one line per client
 * address and minute, and LINES_PER_MINUTE of all together.
 *
 *     refused from=10.0.0.1 status=401 reason="Unauthorized"
 *     path="/debug/pprof/heap" more=17
 *
 * (in one line).  `more` counts the refusals of the address since its last
 * line.  Only the path is written: queries may hold secrets.
 */
#define REFUSALS_LINES_PER_MINUTE 30

struct refusals {
    int64_t minute_ns; /* when the current minute began */
    unsigned lines;    /* written in it */
};

/* Notes a refusal.  True: `line` is to be logged. */
bool refusals_note(struct refusals *r, struct peer *peer,
                   const struct http_client *client, int status,
                   struct str reason, struct str path, int64_t now_ns,
                   struct buf *line);

#endif
