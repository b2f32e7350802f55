#ifndef HTTP_SERVER_SERVER_H
#define HTTP_SERVER_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "http/server/exchange.h"
#include "http/server/limits.h"
#include "http/tls/tls.h"

/*
 * A small HTTP/1.1 server: one for the endpoint inside other people's
 * programs, the page and the collector.
 *
 * One thread waits for all connections and reads requests; a handler runs in
 * a worker thread only when its request is complete, so that slow and idle
 * clients cost a few kilobytes and no thread.  Threads are started when they
 * are first needed, have every signal blocked, and workers end when there is
 * nothing to do.  Everything has a limit (http/server/limits.h).
 */
struct http_server;

struct http_listener {
    /*
     * "127.0.0.1:6060", "localhost:0" (any free port), "[::1]:6060", ":6060"
     * (every interface), "unix:/run/app.sock".
     */
    const char *address;
    unsigned unix_mode;          /* of the socket file; 0 means 0600 */
    const struct tls_files *tls; /* NULL: plain HTTP */
};

struct http_server_options {
    /* The first listener, and up to HTTP_LISTENERS_MAX - 1 more. */
    const char *address;
    unsigned unix_mode;
    const struct tls_files *tls;
    const struct http_listener *more_listeners;
    size_t n_more_listeners;

    const struct http_limits *limits; /* NULL: the defaults */
    http_handler *handler;
    http_admit *admit; /* NULL: everyone is admitted */
    /* Asked before admission, in the thread that reads requests, so that
     * nothing can be in its way; answers what costs nothing (a probe), or
     * returns false. */
    bool (*at_once)(struct http_exchange *x, void *arg);
    void *arg;
    /* Called in each thread of the server, first and last; may be NULL. */
    void (*thread_begins)(void), (*thread_ends)(void);
    /* Takes messages for a log: a certificate that cannot be read again.
     * From the server's thread; may be NULL. */
    void (*say)(void *arg, const char *words);
};

/* Starts to listen; the text of an error names the address. */
struct http_server *http_server_new(const struct http_server_options *options,
                                    struct error *err);

/*
 * Stops accepting connections, and waits until the requests that have begun
 * are answered, for patience_ns at most.  Returns true if all were answered.
 * http_server_free() comes next.
 */
bool http_server_drain(struct http_server *s, int64_t patience_ns);

/* Ends every request, waits for deferred ones to be finished, joins the
 * threads, closes everything. */
void http_server_free(struct http_server *s);

/* Around fork, in the parent: a descriptor that is just being opened must
 * not stay open in the child. */
void http_server_before_fork(struct http_server *s);
void http_server_after_fork(struct http_server *s);

/* In the child after fork: the threads are gone, the descriptors are shared
 * with the parent.  Closes the child's copies and forgets the memory. */
void http_server_abandon(struct http_server *s);

/* Where it listens: "127.0.0.1:40123", "unix:/run/app.sock".  The first
 * listener, or the one of an index; NULL behind the last. */
const char *http_server_address(const struct http_server *s);
const char *http_server_address_at(const struct http_server *s, size_t i);

#endif
