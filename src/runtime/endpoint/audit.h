#ifndef RUNTIME_ENDPOINT_AUDIT_H
#define RUNTIME_ENDPOINT_AUDIT_H

#include <stdint.h>

#include "http/server/server.h"
#include "runtime/endpoint/serve_options.h"

/*
 * A line for every profile taken:
 *
 *     pprof: audit time=2024-05-06T07:08:09Z who="CN:alice"
 *     from=10.0.0.1:4711 what="/debug/pprof/heap" status=200 bytes=8122
 *     seconds=0.012
 *
 * (in one).  Where it goes is in the options.
 */
void audit_write(const struct serve_options *o, const struct http_exchange *x,
                 int64_t took_ns);

#endif
