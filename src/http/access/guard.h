#ifndef HTTP_ACCESS_GUARD_H
#define HTTP_ACCESS_GUARD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "http/access/access_key.h"
#include "http/server/server.h"

/*
 * Decides which requests are admitted.  One for the endpoint, the page and
 * the collector.
 *
 * Each method of authentication that is enabled is enough by itself: a client
 * certificate, a secret of a file, the random key of a page, a token that the
 * Kubernetes cluster knows and whose owner may read the URL.  On a unix socket
 * the user at the other end counts: this program's own, or root.  In doubt
 * the request is refused.
 *
 * Without any method everybody is admitted whose request does not come from
 * another site's web page (http/server/host.h).
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
    /* Names for http_host_is_fine().  Given, they are checked whatever else
     * is enabled; NULL: only where nobody is authenticated. */
    const char *hosts;
    const char *host_hint; /* what to do about a refused Host, in words */
    bool may_navigate;     /* a link on another site may lead here */

    /* Messages for a log, from any thread; may be NULL. */
    void (*say)(void *arg, const char *words);
    void *arg;
};

struct guard;

/* The texts are copied.  An empty client_allow is an error: it would admit
 * either nobody or everybody. */
struct guard *guard_new(const struct guard_options *options, struct error *err);
void guard_free(struct guard *g);

/*
 * An http_admit.  Sets x->identity, or answers with 401, 403, 429 or 503 and
 * a sentence.  UNDECIDED only where the cluster must be asked.
 */
enum http_admission guard_admit(struct guard *g, struct http_exchange *x,
                                bool may_wait);

/*
 * May an admitted client do this (HTTP_MAY_…) for a service?  "": the request
 * is about no single service.  guard_require() answers with 403 if not.
 */
bool guard_allows(const struct http_identity *who, unsigned scope,
                  struct str service);
bool guard_require(struct http_exchange *x, unsigned scope, struct str service);

#endif
