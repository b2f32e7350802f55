#ifndef HTTP_TLS_TLS_SERVER_H
#define HTTP_TLS_TLS_SERVER_H

#include <stdbool.h>

#include "base/error.h"

/*
 * The certificate of a listener, read again when its files change.
 *
 * If a CA is given, a client certificate is requested but not required: the
 * guard decides about clients without one.  With an invalid certificate
 * (another CA, expired, for servers only) the handshake fails.
 *
 * Sessions can be resumed for ten minutes with a ticket.  Its keys live in
 * memory only, are replaced every hour, and whenever a file changes: no
 * ticket outlives the CA that its client's certificate was checked with.
 */
struct tls_files {
    const char *cert, *key; /* PEM; the chain may follow the certificate */
    const char *client_ca;  /* PEM; NULL: no client is asked */
};

struct tls_server;

/* The names are copied.  An error names the file. */
struct tls_server *tls_server_new(const struct tls_files *files,
                                  struct error *err);
void tls_server_free(struct tls_server *s);

/*
 * Reads the files again if they have changed; looks at most once a second.
 * False, and words for a log, once for each change that cannot be used; the
 * certificate that was there is then used on.
 */
bool tls_server_refresh(struct tls_server *s, struct error *err);

/* Changes whenever the client CA does: a certificate that was checked under
 * another version has to be checked again. */
unsigned tls_server_version(const struct tls_server *s);

/* For tls.c: what its sessions are made of. */
struct openssl;
struct ssl_ctx_st;
const struct openssl *tls_server_openssl(const struct tls_server *s);
struct ssl_ctx_st *tls_server_context(const struct tls_server *s);

#endif
