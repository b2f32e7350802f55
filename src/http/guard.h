#ifndef HTTP_GUARD_H
#define HTTP_GUARD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "http/server.h"

/*
 * Who may pass.  One for the endpoint, the page and the collector.
 *
 * Each way that is switched on is enough by itself: a client certificate, a
 * secret of a file, a token that the Kubernetes cluster knows and whose owner
 * may read the URL.  At a unix socket the user at the other end counts: this
 * program's own, or root.  In doubt the answer is no.
 *
 * Where no way is switched on everybody may pass who does not come through a
 * stranger's web page (http/host.h).
 */
struct guard_options {
    bool certificates;        /* those that the listener's client CA signed */
    const char *client_allow; /* … with these names alone; NULL: all */
    const char *token_file;   /* http/tokens.h; NULL: none */
    bool kubernetes;          /* http/review.h */
    const char *hosts;        /* names for http_host_is_fine() */
    /* Words for a log, from any thread; may be NULL. */
    void (*say)(void *arg, const char *words);
    void *arg;
};

struct guard;

struct guard *guard_new(const struct guard_options *options, struct error *err);
void guard_free(struct guard *g);

#define GUARD_WHO_MAX 256

/*
 * True, and who it is ("CN:alice", "user bob", "uid 1000", "-" for anybody);
 * or the exchange is answered: 401, 403 or 503 with a sentence.
 */
bool guard_check(struct guard *g, struct http_exchange *x, char *who);

#endif
