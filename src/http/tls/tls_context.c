/*
 * The settings are those of Go's defaults and Mozilla's "intermediate" list,
 * without anything that lacks forward secrecy.
 */
#include "http/tls/tls_context.h"

/* Forward secrecy and authenticated encryption; TLS 1.3 has nothing else. */
#define CIPHERS "ECDHE+AESGCM:ECDHE+CHACHA20"

/* A key with a password is refused, without asking for the password on a
 * terminal. */
static int no_password(char *to, int size, int writing, void *arg)
{
    (void)to, (void)size, (void)writing, (void)arg;
    return 0;
}

struct ssl_ctx_st *tls_context_new(const struct openssl *ssl,
                                   const struct ssl_method_st *method)
{
    struct ssl_ctx_st *c = ssl->SSL_CTX_new(method);

    if (!c)
        return NULL;
    ssl->SSL_CTX_ctrl(c, OPENSSL_CTRL_MIN_VERSION, OPENSSL_TLS1_2, NULL);
    ssl->SSL_CTX_ctrl(c, OPENSSL_CTRL_MODE,
                      OPENSSL_MODE_PARTIAL_WRITE | OPENSSL_MODE_MOVING_BUFFER |
                          OPENSSL_MODE_RELEASE_BUFFERS,
                      NULL);
    /* Sessions are resumed by tickets alone: no memory is kept for them. */
    ssl->SSL_CTX_ctrl(c, OPENSSL_CTRL_SESSION_CACHE, 0, NULL);
    ssl->SSL_CTX_set_options(c, OPENSSL_NO_COMPRESSION |
                                    OPENSSL_SERVER_PREFERENCE |
                                    (uint64_t)OPENSSL_NO_RENEGOTIATION);
    ssl->SSL_CTX_set_default_passwd_cb(c, no_password);
    if (ssl->SSL_CTX_set_cipher_list(c, CIPHERS))
        return c;
    ssl->SSL_CTX_free(c);
    return NULL;
}

bool tls_context_complain(const struct openssl *ssl, const char *path,
                          struct error *err)
{
    const char *words =
        ssl->ERR_reason_error_string(ssl->ERR_peek_last_error());

    return error_set(err, "%s: %s", path, words ? words : "cannot be read");
}

/* Who signed it is enough: intermediate CAs and single certificates may be
 * trusted, as they may in Go. */
bool tls_context_trust(const struct openssl *ssl, struct ssl_ctx_st *c,
                       const char *ca_file, struct error *err)
{
    if (!ssl->SSL_CTX_load_verify_file(c, ca_file))
        return tls_context_complain(ssl, ca_file, err);
    ssl->X509_VERIFY_PARAM_set_flags(ssl->SSL_CTX_get0_param(c),
                                     OPENSSL_PARTIAL_CHAIN);
    ssl->SSL_CTX_set_verify(c, OPENSSL_VERIFY_PEER, NULL);
    return true;
}

/* Those that programs on this machine trust by default. */
static bool trust_system(const struct openssl *ssl, struct ssl_ctx_st *c,
                         struct error *err)
{
    if (!ssl->SSL_CTX_set_default_verify_paths(c))
        return tls_context_complain(ssl, "the system's CA certificates", err);
    ssl->SSL_CTX_set_verify(c, OPENSSL_VERIFY_PEER, NULL);
    return true;
}

static bool use_certificate(const struct openssl *ssl, struct ssl_ctx_st *c,
                            const struct tls_client_files *files,
                            struct error *err)
{
    if (!files->cert)
        return true;
    if (!ssl->SSL_CTX_use_certificate_chain_file(c, files->cert))
        return tls_context_complain(ssl, files->cert, err);
    if (!ssl->SSL_CTX_use_PrivateKey_file(c, files->key,
                                          OPENSSL_FILETYPE_PEM) ||
        !ssl->SSL_CTX_check_private_key(c))
        return tls_context_complain(ssl, files->key, err);
    return true;
}

struct ssl_ctx_st *tls_client_context(const struct openssl *ssl,
                                      const struct tls_client_files *files,
                                      struct error *err)
{
    struct ssl_ctx_st *c = tls_context_new(ssl, ssl->TLS_client_method());

    if (!c) {
        error_set(err, "out of memory");
        return NULL;
    }
    if ((files->ca ? tls_context_trust(ssl, c, files->ca, err)
                   : trust_system(ssl, c, err)) &&
        use_certificate(ssl, c, files, err))
        return c;
    ssl->ERR_clear_error();
    ssl->SSL_CTX_free(c);
    return NULL;
}
