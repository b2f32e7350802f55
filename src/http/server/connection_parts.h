#ifndef HTTP_SERVER_CONNECTION_PARTS_H
#define HTTP_SERVER_CONNECTION_PARTS_H

#include "base/clock.h"
#include "http/server/connection.h"

/* What the two files of a connection share; nobody else includes this. */

/* Buffers of more capacity are not kept between requests. */
#define CONNECTION_KEEP_BYTES ((size_t)4 << 10)

static inline void connection_set_deadline(struct connection *c, int64_t ns)
{
    c->deadline_ns = clock_monotonic_ns() + ns;
}

static inline bool http_request_has_body(const struct http_request *r)
{
    return r->chunked || r->body_bytes > 0;
}

/* connection_refuse() with another sentence than the status has. */
void connection_refuse_with(struct connection *c, int status, const char *words,
                            const struct connection_context *context);

/* The reply is written: the next request may have arrived already. */
void connection_drop_request(struct connection *c);

#endif
