#ifndef HTTP_CLIENT_HTTP_CLIENT_H
#define HTTP_CLIENT_HTTP_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "http/tls/tls.h"

/*
 * One HTTP request at a time, for the requests of libpprof, which must not load
 * libcurl into other people's processes.  Programs fetch with src/fetch.
 *
 * Plain HTTP, or TLS with a verified server certificate.  Never waits past the
 * deadline (except in the resolver, which has limits of its own), never raises
 * SIGPIPE, and follows no redirects: credentials go only to the server that was
 * named.
 */
struct http_url {
    bool is_tls;
    char user[256]; /* "name:password", decoded; "": none */
    char host[256], port[8];
    char path[512]; /* without a slash at its end: "" or "/base" */
};

/* "http://host:port/path", "https://user:password@[::1]/".  An error names
 * the URL, without user and password. */
bool http_url_parse(struct str url, struct http_url *out, struct error *err);

struct http_call {
    const char *method;                 /* "POST" */
    const struct tls_client_files *tls; /* NULL: plain */
    const char *host, *port; /* with TLS the certificate must be for host */
    const char *path;        /* with the query */
    const char *content_type;
    struct str token; /* sent as bearer token; empty: none */
    struct str user;  /* "name:password", for basic authentication */
    struct str body;
    int64_t deadline_ns; /* of the monotonic clock */
    int64_t connect_ns;  /* for each address of the host; 0: the deadline */
};

struct http_answer {
    int status;            /* 0: there was no reply, or no complete head */
    int64_t retry_after_s; /* from Retry-After; 0: none */
};

/* True: the answer is complete, with the body in `reply`, whose max limits it.
 * False: the request failed; the answer has a status if the head of the reply
 * arrived.  An error does not name the URL. */
bool http_call(const struct http_call *call, struct http_answer *answer,
               struct buf *reply, struct error *err);

/* In the child after fork: closes what the parent's threads had open. */
void http_client_after_fork(void);

#endif
