#ifndef FETCH_URL_H
#define FETCH_URL_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

/*
 * The parts of a URL, as views of its text:
 * scheme://userinfo@host:port/path?query
 */
struct url {
    struct str scheme;
    struct str userinfo; /* "" when there is none */
    struct str host;     /* with the port, if one is given */
    struct str path;     /* from its first slash, as it was written */
    struct str query;    /* without the question mark, as it was written */
};

/* False when the text cannot be a URL (a control character or a blank in it, or
 * a port that is not a number). */
bool url_parse(struct str text, struct url *out);

void url_print(const struct url *u, struct buf *out);

/*
 * Takes user name and password out of the URL, so that the rest can be shown
 * and saved: "me:secret", as it was written.  The user of an ssh URL is part of
 * its address and stays.
 */
struct str url_take_login(struct url *u);

/*
 * The text without anything that may be a password, for messages about invalid
 * URLs: removes everything up to the last "@" except the scheme, if there is a
 * colon.
 */
struct str url_hide_login(struct arena *a, struct str text);

/* The first value of a query parameter, decoded, from `a`; false if absent. */
bool url_query_get(struct arena *a, struct str query, struct str key,
                   struct str *value);

/*
 * The query re-encoded as google/pprof sends it: decoded, parameters sorted,
 * `key` set to `value` (unless key is "").
 */
struct str url_query_set(struct arena *a, struct str query, struct str key,
                         struct str value);

#endif
