#ifndef HTTP_ACCESS_CREDENTIALS_H
#define HTTP_ACCESS_CREDENTIALS_H

#include <stdbool.h>

#include "http/server/message.h"

/*
 * The credentials in an Authorization header: a bearer token, or the user and
 * password of HTTP basic authentication, the only kind that a URL can carry.
 */
#define CREDENTIALS_MAX 4096 /* longest token; service accounts' have ~1000 */

enum credentials_kind {
    CREDENTIALS_NONE,
    CREDENTIALS_BEARER,
    CREDENTIALS_BASIC,
    CREDENTIALS_BAD, /* a header that is neither, or too long */
};

struct credentials {
    enum credentials_kind kind;
    struct str user;   /* basic alone */
    struct str secret; /* the token, or the password */
    char bytes[CREDENTIALS_MAX];
};

/* The views point into the request and into *out itself. */
void credentials_read(const struct http_request *r, struct credentials *out);

/* Compares in constant time: a near miss takes as long as any other text of
 * that length. */
bool credentials_equal(struct str given, struct str secret);

#endif
