#ifndef COLLECTOR_COLLECTOR_H
#define COLLECTOR_COLLECTOR_H

#include "base/error.h"
#include "collector/context.h"
#include "http/server/route.h"
#include "http/server/server.h"

/*
 * The collector's HTTP API over a store, which belongs to the caller.
 *
 * Admission comes first, in the server's admission hook, because it decides
 * how large a body may be before any of it is read:
 *
 *     collector_admit(c, x)     which scope the request needs, and its limit
 *     collector_handle(c, x)    answers it, possibly later
 * (http_exchange_defer)
 */
void collector_init(struct collector *c,
                    const struct collector_options *options);
void collector_release(struct collector *c);

/* Sets x->max_body; returns the scope (HTTP_MAY_…) that the request needs. */
unsigned collector_admit(const struct collector *c, struct http_exchange *x);

/* True if the path is one of the collector's, whatever the method. */
bool collector_knows(struct str path);

void collector_handle(struct collector *c, struct http_exchange *x);

/*
 * Appends the reply to GET /api/1/overview without parameters, as the client
 * of `x` may see it.  False, and nothing is appended, if it fails, takes longer
 * than wait_ns, or does not fit into `out`.  `x` must have no reply yet, and
 * has none afterwards.
 */
bool collector_overview(struct collector *c, struct http_exchange *x,
                        int64_t wait_ns, struct buf *out);

#endif
