#ifndef HTTP_TLS_TLS_CONTEXT_H
#define HTTP_TLS_TLS_CONTEXT_H

#include <stdbool.h>

#include "base/error.h"
#include "http/tls/openssl.h"

/*
 * What many sessions share: protocol versions, ciphers, certificates.  All of
 * these are called between openssl_enter() and openssl_leave().
 */

/* With the settings that both ends have in common; NULL: no memory. */
struct ssl_ctx_st *tls_context_new(const struct openssl *ssl,
                                   const struct ssl_method_st *method);

/* Trusts the CAs of a file, and requests a certificate from the other end. */
bool tls_context_trust(const struct openssl *ssl, struct ssl_ctx_st *c,
                       const char *ca_file, struct error *err);

/* PEM files of a client; NULL where there is none. */
struct tls_client_files {
    const char *ca;         /* trusted; NULL: the CAs of the system */
    const char *cert, *key; /* shown to a server that asks */
};

/* A client's; the caller frees it. */
struct ssl_ctx_st *tls_client_context(const struct openssl *ssl,
                                      const struct tls_client_files *files,
                                      struct error *err);

/* "PATH: what OpenSSL says".  Returns false. */
bool tls_context_complain(const struct openssl *ssl, const char *path,
                          struct error *err);

#endif
