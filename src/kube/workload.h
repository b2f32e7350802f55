#ifndef KUBE_WORKLOAD_H
#define KUBE_WORKLOAD_H

#include "base/arena.h"
#include "config/edit.h"

/*
 * What `kubectl pprof enable` changes in a Deployment or another object with a
 * pod template, as an edit that can be undone.
 */
#define WORKLOAD_NOTE                                                          \
    "pprof/enabled" /* the annotation with what was changed                    \
                     */

struct workload_wish {
    const char *container; /* NULL: the default one, or the first */
    unsigned port;         /* 0: 6060, and 8443 for a server with flags */
    const char *scheme, *path, *profiles, *service;

    /* The program's endpoint with TLS and client certificates of the Secret.
     * With `native` by environment variables, else by the flags of OLM
     * (--tls-cert, --tls-key, --client-ca). */
    bool mtls;
    const char *secret; /* tls.crt, tls.key, ca.crt */

    /* An init container brings the preload library. */
    bool native;
    const char *image;

    /* The program pushes its profiles to a collector. */
    bool push;
    const char *collector;
};

/* Adds everything that is missing.  Memory from `a`. */
bool workload_enable(struct edit *e, struct arena *a,
                     const struct workload_wish *wish, struct error *err);

/* Undoes it; values that somebody has changed since stay and are added to
 * `kept`, a line each. */
bool workload_disable(struct edit *e, struct arena *a, struct buf *kept,
                      struct error *err);

/* The Secret of its certificates; NULL: it has none. */
const char *workload_secret(struct edit *e, struct arena *a);

#endif
