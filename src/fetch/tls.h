#ifndef FETCH_TLS_H
#define FETCH_TLS_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

/*
 * The files of a client certificate.  One PEM file may hold both the
 * certificate and its key.
 */
struct tls_files {
    struct str cert, key; /* "" = not given */
};

/*
 * With only one of the two given, looks for the other in the same file and
 * then beside it (client.key - client.crt, client-key.pem - client.pem …).
 * *note says what was taken ("" when both were given).  Fails when there is
 * none.
 */
bool tls_complete(struct arena *a, struct tls_files *files, struct str *note,
                  struct error *err);

#endif
