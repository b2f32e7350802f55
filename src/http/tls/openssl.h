#ifndef HTTP_TLS_OPENSSL_H
#define HTTP_TLS_OPENSSL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * OpenSSL 3, loaded only when TLS is enabled: our programs are not linked with
 * it, and libpprof does not load it without need.
 *
 * Its functions are declared here, with the names and types of its headers
 * (tests/unit/test_tls.c compares them), and called through one table:
 *
 *     const struct openssl *ssl = openssl_load(&err);
 *     if (!ssl || !openssl_enter())
 *         …
 *     session = ssl->SSL_new(context);
 *     openssl_leave();
 */
struct ssl_st;
struct ssl_ctx_st;
struct ssl_method_st;
struct bio_st;
struct bio_method_st;
struct x509_st;
struct x509_store_ctx_st;
struct X509_name_st;
struct X509_name_entry_st;
struct X509_VERIFY_PARAM_st;
struct asn1_string_st;
struct stack_st;
struct stack_st_X509_NAME;
struct stack_st_GENERAL_NAME;
struct GENERAL_NAME_st;
struct ossl_init_settings_st;

typedef int openssl_verify_fn(int ok, struct x509_store_ctx_st *ctx);
typedef int openssl_password_fn(char *buf, int size, int writing, void *arg);
typedef int openssl_bio_write_fn(struct bio_st *b, const char *data, int n);
typedef int openssl_bio_read_fn(struct bio_st *b, char *to, int n);
typedef long openssl_bio_ctrl_fn(struct bio_st *b, int cmd, long n, void *arg);

/* X(what it returns, name, what it takes) */
#define OPENSSL_CRYPTO_FUNCTIONS(X)                                            \
    X(int, OPENSSL_init_crypto,                                                \
      (uint64_t, const struct ossl_init_settings_st *))                        \
    X(unsigned long, ERR_peek_last_error, (void))                              \
    X(const char *, ERR_reason_error_string, (unsigned long))                  \
    X(void, ERR_clear_error, (void))                                           \
    X(int, ERR_set_mark, (void))                                               \
    X(int, ERR_pop_to_mark, (void))                                            \
    X(struct bio_st *, BIO_new, (const struct bio_method_st *))                \
    X(int, BIO_get_new_index, (void))                                          \
    X(struct bio_method_st *, BIO_meth_new, (int, const char *))               \
    X(int, BIO_meth_set_write,                                                 \
      (struct bio_method_st *, openssl_bio_write_fn *))                        \
    X(int, BIO_meth_set_read, (struct bio_method_st *, openssl_bio_read_fn *)) \
    X(int, BIO_meth_set_ctrl, (struct bio_method_st *, openssl_bio_ctrl_fn *)) \
    X(void, BIO_set_data, (struct bio_st *, void *))                           \
    X(void *, BIO_get_data, (struct bio_st *))                                 \
    X(void, BIO_set_init, (struct bio_st *, int))                              \
    X(void, BIO_set_flags, (struct bio_st *, int))                             \
    X(void, BIO_clear_flags, (struct bio_st *, int))                           \
    X(void, X509_free, (struct x509_st *))                                     \
    X(struct X509_name_st *, X509_get_subject_name, (const struct x509_st *))  \
    X(int, X509_NAME_get_index_by_NID,                                         \
      (const struct X509_name_st *, int, int))                                 \
    X(struct X509_name_entry_st *, X509_NAME_get_entry,                        \
      (const struct X509_name_st *, int))                                      \
    X(struct asn1_string_st *, X509_NAME_ENTRY_get_data,                       \
      (const struct X509_name_entry_st *))                                     \
    X(int, ASN1_STRING_to_UTF8,                                                \
      (unsigned char **, const struct asn1_string_st *))                       \
    X(const unsigned char *, ASN1_STRING_get0_data,                            \
      (const struct asn1_string_st *))                                         \
    X(int, ASN1_STRING_length, (const struct asn1_string_st *))                \
    X(void, CRYPTO_free, (void *, const char *, int))                          \
    X(void *, X509_get_ext_d2i, (const struct x509_st *, int, int *, int *))   \
    X(int, OPENSSL_sk_num, (const struct stack_st *))                          \
    X(void *, OPENSSL_sk_value, (const struct stack_st *, int))                \
    X(void *, GENERAL_NAME_get0_value,                                         \
      (const struct GENERAL_NAME_st *, int *))                                 \
    X(void, GENERAL_NAMES_free, (struct stack_st_GENERAL_NAME *))              \
    X(int, X509_VERIFY_PARAM_set_flags,                                        \
      (struct X509_VERIFY_PARAM_st *, unsigned long))                          \
    X(int, X509_VERIFY_PARAM_set1_ip_asc,                                      \
      (struct X509_VERIFY_PARAM_st *, const char *))                           \
    X(const char *, X509_verify_cert_error_string, (long))

#define OPENSSL_SSL_FUNCTIONS(X)                                               \
    X(int, OPENSSL_init_ssl, (uint64_t, const struct ossl_init_settings_st *)) \
    X(const struct ssl_method_st *, TLS_server_method, (void))                 \
    X(const struct ssl_method_st *, TLS_client_method, (void))                 \
    X(struct ssl_ctx_st *, SSL_CTX_new, (const struct ssl_method_st *))        \
    X(void, SSL_CTX_free, (struct ssl_ctx_st *))                               \
    X(long, SSL_CTX_ctrl, (struct ssl_ctx_st *, int, long, void *))            \
    X(uint64_t, SSL_CTX_set_options, (struct ssl_ctx_st *, uint64_t))          \
    X(int, SSL_CTX_set_cipher_list, (struct ssl_ctx_st *, const char *))       \
    X(int, SSL_CTX_set_num_tickets, (struct ssl_ctx_st *, size_t))             \
    X(int, SSL_CTX_set_session_id_context,                                     \
      (struct ssl_ctx_st *, const unsigned char *, unsigned))                  \
    X(long, SSL_CTX_set_timeout, (struct ssl_ctx_st *, long))                  \
    X(void, SSL_CTX_set_default_passwd_cb,                                     \
      (struct ssl_ctx_st *, openssl_password_fn *))                            \
    X(int, SSL_CTX_use_certificate_chain_file,                                 \
      (struct ssl_ctx_st *, const char *))                                     \
    X(int, SSL_CTX_use_PrivateKey_file,                                        \
      (struct ssl_ctx_st *, const char *, int))                                \
    X(int, SSL_CTX_check_private_key, (const struct ssl_ctx_st *))             \
    X(int, SSL_CTX_load_verify_file, (struct ssl_ctx_st *, const char *))      \
    X(int, SSL_CTX_set_default_verify_paths, (struct ssl_ctx_st *))            \
    X(struct stack_st_X509_NAME *, SSL_load_client_CA_file, (const char *))    \
    X(void, SSL_CTX_set_client_CA_list,                                        \
      (struct ssl_ctx_st *, struct stack_st_X509_NAME *))                      \
    X(void, SSL_CTX_set_verify,                                                \
      (struct ssl_ctx_st *, int, openssl_verify_fn *))                         \
    X(struct X509_VERIFY_PARAM_st *, SSL_CTX_get0_param,                       \
      (struct ssl_ctx_st *))                                                   \
    X(struct ssl_st *, SSL_new, (struct ssl_ctx_st *))                         \
    X(void, SSL_free, (struct ssl_st *))                                       \
    X(void, SSL_set_bio, (struct ssl_st *, struct bio_st *, struct bio_st *))  \
    X(void, SSL_set_accept_state, (struct ssl_st *))                           \
    X(void, SSL_set_connect_state, (struct ssl_st *))                          \
    X(int, SSL_read, (struct ssl_st *, void *, int))                           \
    X(int, SSL_write, (struct ssl_st *, const void *, int))                    \
    X(int, SSL_get_error, (const struct ssl_st *, int))                        \
    X(int, SSL_pending, (const struct ssl_st *))                               \
    X(int, SSL_is_init_finished, (const struct ssl_st *))                      \
    X(int, SSL_shutdown, (struct ssl_st *))                                    \
    X(long, SSL_ctrl, (struct ssl_st *, int, long, void *))                    \
    X(struct x509_st *, SSL_get1_peer_certificate, (const struct ssl_st *))    \
    X(long, SSL_get_verify_result, (const struct ssl_st *))                    \
    X(int, SSL_set1_host, (struct ssl_st *, const char *))                     \
    X(struct X509_VERIFY_PARAM_st *, SSL_get0_param, (struct ssl_st *))

/* Its constants, as far as they are used; the test compares them too. */
enum {
    OPENSSL_TLS1_2 = 0x0303,
    OPENSSL_FILETYPE_PEM = 1,
    OPENSSL_VERIFY_PEER = 1,
    OPENSSL_CTRL_MODE = 33,
    OPENSSL_CTRL_SESSION_CACHE = 44,
    OPENSSL_CTRL_SERVER_NAME = 55,
    OPENSSL_CTRL_MIN_VERSION = 123,
    OPENSSL_MODE_PARTIAL_WRITE = 0x1,
    OPENSSL_MODE_MOVING_BUFFER = 0x2,
    OPENSSL_MODE_RELEASE_BUFFERS = 0x10,
    OPENSSL_NO_COMPRESSION = 1 << 17,
    OPENSSL_SERVER_PREFERENCE = 1 << 22,
    OPENSSL_NO_RENEGOTIATION = 1 << 30,
    OPENSSL_ERROR_WANT_READ = 2,
    OPENSSL_ERROR_WANT_WRITE = 3,
    OPENSSL_ERROR_ZERO_RETURN = 6,
    OPENSSL_BIO_READ = 0x1,
    OPENSSL_BIO_WRITE = 0x2,
    OPENSSL_BIO_RETRY = 0x8,
    OPENSSL_BIO_SOURCE_SINK = 0x400,
    OPENSSL_BIO_FLUSH = 11,
    OPENSSL_PARTIAL_CHAIN = 0x80000,
    OPENSSL_NID_COMMON_NAME = 13,
    OPENSSL_NID_ALTERNATIVES = 85,
    OPENSSL_GEN_EMAIL = 1,
    OPENSSL_GEN_DNS = 2,
    OPENSSL_GEN_URI = 6,
    OPENSSL_GEN_IP = 7,
    OPENSSL_INIT_NO_ATEXIT_FLAG = 0x80000,
};

struct openssl {
#define X(result, name, takes) __typeof__(result takes) *(name);
    OPENSSL_CRYPTO_FUNCTIONS(X)
    OPENSSL_SSL_FUNCTIONS(X)
#undef X
};

/* The table; the same for all callers.  NULL: err says what to install. */
const struct openssl *openssl_load(struct error *err);

/*
 * Around every call.  Between these two the process does not fork (it waits,
 * but not long), and once it is ending no thread enters: in a program that uses
 * OpenSSL itself, exit() tears it down while our threads still run.  False: do
 * not call it.
 */
bool openssl_enter(void);
void openssl_leave(void);

/* For the hooks of fork. */
void openssl_before_fork(void);
void openssl_after_fork(bool in_child);

#endif
