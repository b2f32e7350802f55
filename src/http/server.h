#ifndef HTTP_SERVER_H
#define HTTP_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"
#include "http/address.h"
#include "http/message.h"
#include "http/tls.h"

/*
 * A small HTTP/1.1 server: one for the endpoint inside other people's
 * programs, the page and the collector.
 *
 * One thread waits for all connections and reads requests; a handler runs in
 * a worker thread only when its request is complete, so that slow and idle
 * clients cost a few hundred bytes and no thread.  Threads are started when
 * they are first needed, have every signal blocked, and workers end when
 * there is nothing to do.  Everything has a limit.
 */
struct http_server;

/* Who is at the other end, as far as the connection itself says it. */
struct http_client {
    char address[HTTP_ADDRESS_MAX]; /* "127.0.0.1:51234", "unix:" */
    bool is_unix;
    uid_t uid; /* at the other end of a unix socket */
    bool is_tls;
    bool has_certificate; /* and the client CA has signed it */
    struct buf names;     /* in it, as tls_client_names() lists them */
};

/* Its address without the port, of which a client has many. */
struct str http_client_host(const struct http_client *client);

/* A request in the hands of a handler, and the reply it makes. */
struct http_exchange {
    const struct http_request *request;
    const struct http_client *client;
    int status;         /* 200 unless set */
    struct buf headers; /* complete lines, each ending in CRLF */
    struct buf body;    /* its max is limits.reply_bytes */
};

/* Runs in a worker thread; fills status, headers and body. */
typedef void http_handler(struct http_exchange *x, void *arg);

struct http_limits {
    unsigned connections;
    unsigned workers; /* requests that are handled at a time */
    size_t head_bytes;
    size_t body_bytes;
    size_t reply_bytes;
    int64_t head_timeout_ns; /* from the first byte to the blank line */
    int64_t body_timeout_ns;
    int64_t idle_timeout_ns;  /* a connection between requests */
    int64_t write_timeout_ns; /* without any progress */
    unsigned requests;        /* of one client, a minute; 0: no limit */
    /*
     * Of one CPU, for reading and answering, and again for what handlers do;
     * what comes faster waits.  0: no limit.
     */
    unsigned cpu_percent;
};

extern const struct http_limits http_default_limits;

struct http_server_options {
    /*
     * "127.0.0.1:6060", "localhost:0" (any free port), "[::1]:6060", ":6060"
     * (every interface), "unix:/run/app.sock".
     */
    const char *address;
    unsigned unix_mode;               /* of the socket file; 0 means 0600 */
    const struct tls_files *tls;      /* NULL: plain HTTP */
    const struct http_limits *limits; /* NULL: the defaults */
    http_handler *handler;
    /* Asked first, in the thread that reads requests, so that nothing can be
     * in its way; answers what costs nothing (a probe), or says false. */
    bool (*at_once)(struct http_exchange *x, void *arg);
    void *arg;
    /* Called in each thread of the server, first and last; may be NULL. */
    void (*thread_begins)(void), (*thread_ends)(void);
    /* Takes words for a log: a certificate that cannot be read again.  From
     * the server's thread; may be NULL. */
    void (*say)(void *arg, const char *words);
};

/* Starts to listen; the words of an error name the address. */
struct http_server *http_server_new(const struct http_server_options *options,
                                    struct error *err);

/* Ends every request, joins the threads, closes everything. */
void http_server_free(struct http_server *s);

/* Around fork, in the parent: a descriptor that is just being opened must
 * not stay open in the child. */
void http_server_before_fork(struct http_server *s);
void http_server_after_fork(struct http_server *s);

/* In the child after fork: the threads are gone, the descriptors are shared
 * with the parent.  Closes the child's copies and forgets the memory. */
void http_server_abandon(struct http_server *s);

/* Where it listens: "127.0.0.1:40123", "unix:/run/app.sock". */
const char *http_server_address(const struct http_server *s);

/* Does the address reach no further than this machine? */
bool http_address_is_local(const char *address);

/*
 * For handlers that take their time: sleeps for ns.  False as soon as the
 * client has gone or the server ends.
 */
bool http_exchange_wait(struct http_exchange *x, int64_t ns);

/* Adds "name: value\r\n" to the headers. */
void http_exchange_header(struct http_exchange *x, const char *name,
                          struct str value);

/* Answers with a sentence, which pprof shows to its user. */
void http_exchange_refuse(struct http_exchange *x, int status,
                          const char *words);

#endif
