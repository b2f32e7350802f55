#ifndef RUNTIME_ENDPOINT_ENDPOINT_H
#define RUNTIME_ENDPOINT_ENDPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

/*
 * Answers requests for /debug/pprof/.  It knows no sockets, so that the same
 * code serves our own server and a server that the program already has.
 *
 * Paths, parameters, statuses, headers and messages are those of Go's
 * net/http/pprof, so that every client made for it works.
 */
struct endpoint_request {
    struct str method;
    struct str path;  /* not decoded */
    struct str query; /* not decoded */
    struct str body;
    int64_t max_seconds; /* the longest that may be asked for; 0: a day */

    /* Waits so long; false as soon as the client has gone. */
    bool (*wait)(void *arg, int64_t ns);
    void *arg;
};

struct endpoint_reply {
    int status;
    struct buf headers; /* "Name: value\r\n" each */
    struct buf body;    /* its max bounds the reply */
};

/* Fills a reply whose bufs the caller has initialised. */
void endpoint_handle(const struct endpoint_request *request,
                     struct endpoint_reply *reply);

#endif
