#ifndef FETCH_CLIENT_CERTIFICATE_H
#define FETCH_CLIENT_CERTIFICATE_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

/*
 * The files of a client certificate.  One PEM file may hold both the
 * certificate and its key.
 */
struct client_certificate {
    struct str cert, key; /* "" = not given */
};

/*
 * With only one of the two given, looks for the other in the same file and then
 * beside it (client.key - client.crt, client-key.pem - client.pem …).  *note
 * says what was found ("" if both were given).  Fails if nothing was found.
 */
bool client_certificate_complete(struct arena *a,
                                 struct client_certificate *files,
                                 struct str *note, struct error *err);

#endif
