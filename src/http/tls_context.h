#ifndef HTTP_TLS_CONTEXT_H
#define HTTP_TLS_CONTEXT_H

#include "http/openssl.h"
#include "http/tls.h"

/*
 * What many sessions share: protocol versions, ciphers, certificates.  For
 * tls.c alone.
 */
const struct openssl *tls_server_openssl(const struct tls_server *s);
struct ssl_ctx_st *tls_server_context(const struct tls_server *s);

/* The caller frees it.  Between openssl_enter and _leave. */
struct ssl_ctx_st *tls_client_context(const struct openssl *ssl,
                                      const char *ca_file, struct error *err);

#endif
