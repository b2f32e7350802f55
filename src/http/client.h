#ifndef HTTP_CLIENT_H
#define HTTP_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

/*
 * One POST of JSON to a server that must prove who it is.  For what libpprof
 * itself has to ask; everybody else fetches with src/fetch.
 *
 * Never waits past the deadline, never raises SIGPIPE, follows nothing.
 */
struct https_post {
    const char *host, *port; /* the certificate must be for the host */
    const char *ca_file;
    const char *path;
    struct str token; /* sent as bearer token; empty: none */
    struct str body;
    int64_t deadline_ns; /* of the monotonic clock */
};

/* True: the status, and the whole body in `reply`, whose max bounds it. */
bool https_post(const struct https_post *post, int *status, struct buf *reply,
                struct error *err);

/* In the child: closes what the parent's threads had open. */
void https_post_after_fork(void);

#endif
