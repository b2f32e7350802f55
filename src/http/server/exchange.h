#ifndef HTTP_SERVER_EXCHANGE_H
#define HTTP_SERVER_EXCHANGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "http/server/address.h"
#include "http/server/message.h"

/*
 * A request in the hands of a handler, and the reply it makes.
 */

/* The client, as far as the connection itself identifies it. */
struct http_client {
    char address[HTTP_ADDRESS_MAX]; /* "127.0.0.1:51234", "unix:" */
    bool is_unix;
    uid_t uid; /* at the other end of a unix socket */
    bool is_tls;
    bool has_certificate; /* signed by the client CA */
    struct buf names;     /* in it, as tls_client_names() lists them */
};

/* The client's address without the port. */
struct str http_client_host(const struct http_client *client);

/* Returns true if the client is on this machine. */
bool http_client_is_local(const struct http_client *client);

/*
 * The key for limits: the IPv4 address ("10.0.0.1"), or the /64 network of an
 * IPv6 address ("2001:db8::"), because a client with one such address usually
 * has the whole network.  May be written to `room`.
 */
#define HTTP_NETWORK_MAX 46
struct str http_client_network(const struct http_client *client,
                               char room[HTTP_NETWORK_MAX]);

/* What an authenticated client may do. */
enum {
    HTTP_MAY_READ = 1,
    HTTP_MAY_WRITE = 2,
};

#define HTTP_NAME_MAX     256
#define HTTP_SERVICES_MAX 256

/* Who made the request, as determined by the admission hook. */
struct http_identity {
    bool is_authenticated;    /* false: let in without proof */
    char name[HTTP_NAME_MAX]; /* "CN:alice", "user bob"; "-": anybody */
    unsigned scopes;          /* HTTP_MAY_… */
    /* Services that the client may read or write: a comma-separated list in
     * which a '*' at the end of an entry matches any rest.  "": all. */
    char services[HTTP_SERVICES_MAX];
};

struct http_exchange {
    const struct http_request *request;
    const struct http_client *client;
    struct http_identity identity; /* set by the admission hook */
    size_t max_body; /* of the request; the admission hook may change it */

    int status;         /* 200 unless set */
    struct buf headers; /* complete lines, each ending in CRLF */
    struct buf body;    /* its max is limits.reply_bytes */
    bool closes;        /* the connection ends with this reply */
};

enum http_admission {
    HTTP_ADMITTED,
    HTTP_REFUSED,   /* the exchange holds the reply */
    HTTP_UNDECIDED, /* the answer must be waited for: ask again in a worker */
};

/*
 * Called once for each request, when its head is complete and before any of
 * its body is read: authentication, limits.  May set x->identity and
 * x->max_body.  "Expect: 100-continue" is answered after it.
 *
 * With may_wait false it runs in the thread that serves every connection and
 * must not block; if it returns HTTP_UNDECIDED it is called again, in a
 * worker, with may_wait true, and must decide.
 */
typedef enum http_admission http_admit(struct http_exchange *x, bool may_wait,
                                       void *arg);

/*
 * Runs in a worker thread, once the whole request has arrived; fills status,
 * headers and body.
 */
typedef void http_handler(struct http_exchange *x, void *arg);

/* Appends "name: value\r\n" to the headers.  Bytes that would end the line
 * are replaced by '?'. */
void http_exchange_header(struct http_exchange *x, const char *name,
                          struct str value);

/* Replies with a sentence, which pprof shows to its user. */
void http_exchange_refuse(struct http_exchange *x, int status,
                          const char *words);

/* The same, with Retry-After. */
void http_exchange_retry_after(struct http_exchange *x, int status,
                               unsigned seconds, const char *words);

/* --- handlers that take their time --------------------------------------- */

/*
 * Sleeps for ns.  Returns false as soon as the client has disconnected or the
 * server is stopping; http_exchange_wait(x, 0) only asks.  From any thread
 * that holds the exchange.
 */
bool http_exchange_wait(struct http_exchange *x, int64_t ns);

/*
 * Finishing later, from any thread, without keeping a worker.
 *
 * A handler that calls http_exchange_defer() keeps the exchange when it
 * returns: the reply is sent after http_exchange_finish() has been called,
 * exactly once.  Until then the request, the client and the reply stay valid,
 * and the connection waits.
 *
 * on_gone, if set, is called at most once, from a thread of the server, when
 * the client disconnects or the server stops: use it to cancel what the client
 * was waiting for.  It must not block, and may run at the same time as
 * http_exchange_finish() in another thread.  The exchange must be finished
 * all the same; its reply is then dropped.
 *
 * `data` is yours.  release, if set, is called when nothing uses the exchange
 * any more, on_gone included.
 *
 * http_server_free() waits until every deferred exchange is finished.
 */
struct http_deferral {
    void (*on_gone)(struct http_exchange *x, void *data);
    void (*release)(void *data);
    void *data;
};

void http_exchange_defer(struct http_exchange *x,
                         const struct http_deferral *deferral);
void http_exchange_finish(struct http_exchange *x);

/*
 * Sends what is in `body` so far, and empties it; the first call sends status
 * and headers, too, and the reply is chunked from then on.  Call it whenever
 * a piece is ready; what is in `body` at the end is sent as the last piece.
 *
 * Blocks while the client is slow.  Returns false if the client has
 * disconnected, the server is stopping, or `body` has failed: give up then.
 * A reply that fails after its first piece ends with a broken connection, so
 * that the client notices.
 */
bool http_exchange_flush(struct http_exchange *x);

#endif
