#ifndef FETCH_HTTP_FETCH_H
#define FETCH_HTTP_FETCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

#define HTTP_MAX_REPLY ((size_t)4 << 30) /* the largest size of a profile */

/*
 * One HTTP exchange with a server that may want certificates or a token.
 *
 * URLs: http://, https://, https+insecure:// (the server's certificate is
 * not verified), unix:///path/to.sock/rest (over a Unix socket), and
 * ssh://[user@]host[:port]/[PORT/]rest, also ssh+https://: through the
 * user's own ssh to the loopback of that host (port 6060 unless the path
 * starts with another).  Proxies come from the environment, redirects are
 * followed.
 */
struct http_options {
    struct str tls_cert, tls_key, tls_ca; /* file names; "" = not given */
    struct str tls_server_name; /* the name in the server's certificate; "": the
                                   host */
    struct str login;           /* "user:password" as in a URL, or "" */
    struct str token_file;      /* its first line becomes a bearer token */
    const struct str *headers;  /* "Name: value" */
    size_t n_headers;
    int64_t timeout_ns; /* for the whole exchange; 0 = none */
    size_t max_reply;   /* bytes; 0: HTTP_MAX_REPLY */
    /* Words for the user ("No -tls_cert given: using …"); may be NULL. */
    void (*note)(void *arg, const char *words);
    void *note_arg;
    /* Called about twice a second while waiting; may be NULL.  false ends
     * the exchange with an error. */
    bool (*tick)(void *arg);
    void *tick_arg;
};

struct http_reply {
    int status;
    char reason[64];       /* "Not Found" */
    char content_type[96]; /* without parameters' case changed; "" if none */
    struct buf body;
};

/*
 * Sends a GET, or a POST of `body` when post is true.  True when the server
 * answered, whatever its status.  The caller releases reply->body.
 *
 * Errors say what failed, and which option to use if the server requires a
 * certificate or its own is not trusted.  A connection to this machine that is
 * refused is tried again for two seconds: a port-forward that was started a
 * moment ago may not listen yet.
 */
bool http_fetch(struct str url, bool post, struct str body,
                const struct http_options *options, struct http_reply *reply,
                struct error *err);

/*
 * "server response: 404 Not Found - <body>": the words for a reply that is
 * not 200.  A text body is shown, cut to a few lines.  The code of a 404 is
 * ENOENT.
 */
void http_error_words(const struct http_reply *reply, struct error *err);

#endif
