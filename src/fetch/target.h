#ifndef FETCH_TARGET_H
#define FETCH_TARGET_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

/*
 * Turns a source URL into what libcurl needs: the http(s) URL to request, and
 * the kind of connection.
 */
struct http_target {
    const char *url;         /* http:// or https:// */
    const char *shown;       /* as the user knows it, without the login */
    struct str login;        /* "user:password" of the URL; or "" */
    const char *host;        /* with port, for messages */
    const char *unix_socket; /* NULL unless over a Unix socket */
    struct str ssh_login;    /* "" unless through ssh */
    unsigned ssh_port;       /* on the loopback of that host */
    bool insecure;           /* do not verify the server's certificate */
};

bool http_target_parse(struct arena *a, struct str text,
                       struct http_target *out, struct error *err);

#endif
