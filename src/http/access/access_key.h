#ifndef HTTP_ACCESS_ACCESS_KEY_H
#define HTTP_ACCESS_ACCESS_KEY_H

#include <stdbool.h>

#include "base/error.h"
#include "http/server/server.h"

/*
 * A random key for a page that other machines can reach.  The program prints
 * its URL with "?token=KEY"; the first request with it is redirected to the
 * same URL without the token, and the key is kept in a cookie.  Programs send
 * it as a bearer token, or as the password in the URL.
 */
struct access_key {
    char text[33];   /* 128 bits in hex */
    char cookie[16]; /* its name: different for each page on a host */
};

bool access_key_init(struct access_key *key, struct error *err);

/* Returns true if the request has the key.  Otherwise the exchange is answered:
 * with a redirect, or with 403 and a message. */
bool access_key_check(const struct access_key *key, struct http_exchange *x);

#endif
