#ifndef HTTP_SERVER_ROUTE_H
#define HTTP_SERVER_ROUTE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"

/*
 * A route table: method and path to function.  Used by the endpoint, the page
 * and the collector.
 *
 *     static const struct http_route routes[] = {
 *         {"GET", "/api/0/profiles", list_profiles, .scope = HTTP_MAY_READ},
 *         {"POST", "/api/0/profiles", add_profile, .scope = HTTP_MAY_WRITE,
 *          .max_body = 32 << 20},
 *         {"GET", "/api/0/services", list_services},
 *     };
 *
 * The first route whose path and method match is taken.  GET includes HEAD:
 * the server sends no body then.  A path that ends in '*' matches any rest,
 * also an empty one; every other path must match exactly.
 */

/* `request` is whatever the owner of the table passes around: an exchange, or
 * a struct with one in it and what the path matched. */
typedef void http_route_fn(void *request);

struct http_route {
    const char *methods; /* "GET", "GET, POST" */
    const char *path;
    http_route_fn *handle;
    unsigned scope;  /* HTTP_MAY_… that the client needs; 0: none */
    size_t max_body; /* of the request; 0: the server's limit */
};

struct http_match {
    const struct http_route *route;
    struct str rest; /* what the '*' stands for */
};

struct http_routes {
    const struct http_route *all;
    size_t n;
};

/* For a static array. */
#define HTTP_ROUTES(array)                                                     \
    ((struct http_routes){(array), sizeof(array) / sizeof((array)[0])})

enum http_found {
    HTTP_ROUTE_FOUND,
    HTTP_ROUTE_NO_PATH,   /* 404 */
    HTTP_ROUTE_NO_METHOD, /* 405: see http_routes_allow() */
};

enum http_found http_routes_find(struct http_routes routes, struct str method,
                                 struct str path, struct http_match *out);

/* Appends the value of the Allow header for a path: "GET, HEAD, POST". */
void http_routes_allow(struct http_routes routes, struct str path,
                       struct buf *out);

#endif
