#ifndef HTTP_ACCESS_ACCESS_KEY_H
#define HTTP_ACCESS_ACCESS_KEY_H

#include <stdbool.h>

#include "base/error.h"
#include "http/server/server.h"

/*
 * A random key for a page that other machines can reach.  The program prints
 * its URL with "?token=KEY"; the first request with it is sent on to the same
 * URL without, and the key goes on living in a cookie.  Programs give it as
 * bearer token, or as the password in the URL.
 */
struct access_key {
    char text[33];   /* 128 bits in hex */
    char cookie[16]; /* its name: two pages on one host have two */
};

bool access_key_init(struct access_key *key, struct error *err);

/* May the request pass?  If not, the exchange is answered: sent on, or 403
 * with a sentence. */
bool access_key_check(const struct access_key *key, struct http_exchange *x);

#endif
