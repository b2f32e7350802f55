#ifndef HTTP_ACCESS_GUARD_H
#define HTTP_ACCESS_GUARD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "http/access/access_key.h"
#include "http/server/server.h"

/*
 * Decides which requests are admitted.  Shared by the endpoint, the page and
 * the collector.
 *
 * Each method of authentication that is enabled is sufficient by itself: a
 * client certificate, a secret from a file, the random key of a page, a token
 * that the Kubernetes cluster accepts and whose owner may read the URL.  On a
 * Unix socket, the peer's user decides: this program's own user and root are
 * admitted.  In doubt the request is refused.
 *
 * Without any method, all requests are admitted except those from another
 * site's web page (http/server/host.h).
 */
struct guard_options {
    bool certificates;        /* those that the listener's CA signed */
    const char *client_allow; /* … with these names only; NULL: all */
    const char *token_file;   /* http/access/tokens.h; NULL: none */
    bool kubernetes;          /* http/access/kube_review.h */
    /* POST reads here, as GET does (names for addresses): the cluster is asked
     * about the verb "get". */
    bool posts_read;
    /* A literal before the path that the cluster is asked about; NULL: none.
     * Every user of a cluster may get its own /api/ and /apis/. */
    const char *rbac_prefix;
    const struct access_key *key; /* outlives the guard; NULL: none */

    bool local_only; /* refuse clients of other machines */
    /* Names for http_host_is_fine().  If given, they are always checked; NULL:
     * only if authentication is not enabled. */
    const char *hosts;
    const char *host_hint; /* message for a refused Host header */
    bool may_navigate;     /* a link on another site may lead here */

    /* Messages for a log, from any thread; may be NULL. */
    void (*say)(void *arg, const char *words);
    void *arg;
};

struct guard;

/* The texts are copied.  An empty client_allow is an error: it would admit
 * either no client or all. */
struct guard *guard_new(const struct guard_options *options, struct error *err);
void guard_free(struct guard *g);

/*
 * An http_admit.  Sets x->identity, or answers with 401, 403, 429 or 503 and a
 * message.  UNDECIDED only if the cluster must be asked.
 */
enum http_admission guard_admit(struct guard *g, struct http_exchange *x,
                                bool may_wait);

/*
 * Returns true if an admitted client has the permission (HTTP_MAY_…) for a
 * service; "": the request concerns no single service. guard_require() answers
 * with 403 if not.
 */
bool guard_allows(const struct http_identity *who, unsigned scope,
                  struct str service);
bool guard_require(struct http_exchange *x, unsigned scope, struct str service);

#endif
