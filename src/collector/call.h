#ifndef COLLECTOR_CALL_H
#define COLLECTOR_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "http/server/server.h"
#include "store/store.h"

/*
 * One request to the collector's API: its parameters, its memory, and the
 * forms of its reply.
 *
 * Parameters come from the URL's query only; the first value of a name
 * counts, and a pair that cannot be decoded is ignored, as in Go.
 *
 * Both APIs answer errors as {"code":400,"error":"…"}, with the status as
 * code.  go tool pprof shows the text of such an error if the reply says that
 * it may: call_fail() does so.
 */
struct collector;

struct call {
    struct collector *collector;
    struct http_exchange *x;
    const char *path;    /* of the route, for metrics; a literal */
    struct str rest;     /* what the * of the route stands for, as sent */
    struct arena *arena; /* freed after the reply is made, unless deferred */
    int64_t now_ns;      /* wall clock, for relative times */
    int64_t began_ns;    /* monotonic */
    int64_t until_ns;    /* monotonic: the deadline; 0: none */
    bool is_deferred;
    bool is_json; /* call_json() was called */
};

/* The decoded value, "" if absent. */
struct str call_param(const struct call *c, struct str name);

/*
 * Tokens may be restricted to services.  call_may() says whether the client
 * may read or write (HTTP_MAY_…) profiles of a service; false after the call
 * has been answered with 403.  call_restriction() is the condition that every
 * query of a restricted client must meet besides its own; false if there is
 * none.
 */
bool call_may(struct call *c, unsigned scope, struct str service);
bool call_restriction(const struct call *c, struct store_matcher *out);

/* Answers with an error. */
void call_fail(struct call *c, int status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Replies to a read or write that failed in the store: with a suitable status,
 * and how far a limited query got. */
void call_fail_store(struct call *c, enum store_status status,
                     const struct store_progress *progress,
                     const struct error *err);

/* Sets the type of a JSON reply; the body is the caller's.  It is gzipped for
 * clients of other machines that accept it. */
void call_json(struct call *c);

/* The body is a file of that name. */
void call_attachment(struct call *c, struct str name);

/* Answers with a profile as a gzipped file of that name; frees it. */
void call_send_profile(struct call *c, struct profile *p, struct str name);

/*
 * Keeps the exchange and the arena after the handler returns: a copy of the
 * call is finished later, from any thread. `release` is called when nothing
 * uses them any more, and frees the arena.
 */
void call_defer(struct call *c, void (*release)(void *data), void *data);

/* The reply of a deferred call is complete. */
void call_finish(struct call *c);

/* Gzips a complete JSON reply if that saves time: not for small replies, and
 * not for clients on the same machine. */
void call_pack(struct call *c);

/* Counts a call whose reply is complete; call_finish() does so. */
void call_count(const struct call *c);

/* The budget of a query: the configured limits, and ends when the client
 * disconnects. */
struct store_budget call_budget(const struct call *c);

#endif
