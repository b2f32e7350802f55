/*
 * Compares the declarations in http/tls/openssl.h with OpenSSL's headers.
 * Everything else about TLS is in tests/e2e/test_security.py.
 */
#include "test.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "http/tls/openssl.h"

#define IS_SAME(mine, its)                                                     \
    _Static_assert((uint64_t)(mine) == (uint64_t)(its), #mine)

IS_SAME(OPENSSL_TLS1_2, TLS1_2_VERSION);
IS_SAME(OPENSSL_FILETYPE_PEM, SSL_FILETYPE_PEM);
IS_SAME(OPENSSL_VERIFY_PEER, SSL_VERIFY_PEER);
IS_SAME(OPENSSL_CTRL_MODE, SSL_CTRL_MODE);
IS_SAME(OPENSSL_CTRL_SESSION_CACHE, SSL_CTRL_SET_SESS_CACHE_MODE);
IS_SAME(OPENSSL_CTRL_SERVER_NAME, SSL_CTRL_SET_TLSEXT_HOSTNAME);
IS_SAME(OPENSSL_CTRL_MIN_VERSION, SSL_CTRL_SET_MIN_PROTO_VERSION);
IS_SAME(OPENSSL_MODE_PARTIAL_WRITE, SSL_MODE_ENABLE_PARTIAL_WRITE);
IS_SAME(OPENSSL_MODE_MOVING_BUFFER, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
IS_SAME(OPENSSL_MODE_RELEASE_BUFFERS, SSL_MODE_RELEASE_BUFFERS);
IS_SAME(OPENSSL_NO_COMPRESSION, SSL_OP_NO_COMPRESSION);
IS_SAME(OPENSSL_SERVER_PREFERENCE, SSL_OP_CIPHER_SERVER_PREFERENCE);
IS_SAME(OPENSSL_NO_RENEGOTIATION, SSL_OP_NO_RENEGOTIATION);
IS_SAME(OPENSSL_ERROR_WANT_READ, SSL_ERROR_WANT_READ);
IS_SAME(OPENSSL_ERROR_WANT_WRITE, SSL_ERROR_WANT_WRITE);
IS_SAME(OPENSSL_ERROR_ZERO_RETURN, SSL_ERROR_ZERO_RETURN);
IS_SAME(OPENSSL_BIO_READ, BIO_FLAGS_READ);
IS_SAME(OPENSSL_BIO_WRITE, BIO_FLAGS_WRITE);
IS_SAME(OPENSSL_BIO_RETRY, BIO_FLAGS_SHOULD_RETRY);
IS_SAME(OPENSSL_BIO_SOURCE_SINK, BIO_TYPE_SOURCE_SINK);
IS_SAME(OPENSSL_BIO_FLUSH, BIO_CTRL_FLUSH);
IS_SAME(OPENSSL_PARTIAL_CHAIN, X509_V_FLAG_PARTIAL_CHAIN);
IS_SAME(OPENSSL_NID_COMMON_NAME, NID_commonName);
IS_SAME(OPENSSL_NID_ALTERNATIVES, NID_subject_alt_name);
IS_SAME(OPENSSL_GEN_EMAIL, GEN_EMAIL);
IS_SAME(OPENSSL_GEN_DNS, GEN_DNS);
IS_SAME(OPENSSL_GEN_URI, GEN_URI);
IS_SAME(OPENSSL_GEN_IP, GEN_IPADD);
IS_SAME(OPENSSL_INIT_NO_ATEXIT_FLAG, OPENSSL_INIT_NO_ATEXIT);

#define X(result, name, takes)                                                 \
    _Static_assert(                                                            \
        __builtin_types_compatible_p(__typeof__(((struct openssl *)0)->name),  \
                                     __typeof__(&(name))),                     \
        #name " has another type");
OPENSSL_CRYPTO_FUNCTIONS(X)
OPENSSL_SSL_FUNCTIONS(X)
#undef X

TEST(every_function_is_found)
{
    struct error err = {""};
    const struct openssl *ssl = openssl_load(&err);

    EXPECT(ssl != NULL);
    EXPECT_STR(str_from(err.text), "");
    if (!ssl)
        return;
    EXPECT(openssl_load(&err) == ssl);
    EXPECT(openssl_enter());
    EXPECT(ssl->ERR_peek_last_error() == 0);
    openssl_leave();
}

TEST(a_forked_child_may_use_it_too)
{
    openssl_before_fork();
    openssl_after_fork(true);
    EXPECT(openssl_enter());
    openssl_leave();
}

TEST(a_child_does_not_when_a_thread_was_in_the_middle)
{
    EXPECT(openssl_enter());
    openssl_before_fork();
    openssl_after_fork(true);
    EXPECT(!openssl_enter());
}

TEST_MAIN
