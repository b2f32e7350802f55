/*
 * A session, and the socket as OpenSSL sees it.  Every call of the library is
 * between openssl_enter() and openssl_leave(), and leaves no error behind in
 * the thread's queue, which the program may read.
 */
#include "http/tls/tls.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "http/tls/openssl.h"
#include "http/tls/tls_context.h"

struct tls {
    const struct openssl *ssl;
    struct ssl_st *session;
    enum tls_wants wants;
    bool is_over;
    bool is_established;
    char reason[128];
};

/* --- the socket as OpenSSL sees it -------------------------------------- */

/* Not its own: that one writes without MSG_NOSIGNAL. */
static const struct openssl *for_bio;

static int fd_of(struct bio_st *b)
{
    return (int)(intptr_t)for_bio->BIO_get_data(b);
}

static int bio_result(struct bio_st *b, ssize_t n, int direction)
{
    for_bio->BIO_clear_flags(b, OPENSSL_BIO_READ | OPENSSL_BIO_WRITE |
                                    OPENSSL_BIO_RETRY);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        for_bio->BIO_set_flags(b, direction | OPENSSL_BIO_RETRY);
    return (int)n;
}

static int bio_read(struct bio_st *b, char *to, int n)
{
    return bio_result(b, recv(fd_of(b), to, (size_t)n, 0), OPENSSL_BIO_READ);
}

static int bio_write(struct bio_st *b, const char *from, int n)
{
    return bio_result(b, send(fd_of(b), from, (size_t)n, MSG_NOSIGNAL),
                      OPENSSL_BIO_WRITE);
}

static long bio_ctrl(struct bio_st *b, int command, long n, void *arg)
{
    (void)b, (void)n, (void)arg;
    return command == OPENSSL_BIO_FLUSH;
}

/* Made once: the library has a number of kinds to give away. */
static struct bio_method_st *bio_method(const struct openssl *ssl)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct bio_method_st *made;
    struct bio_method_st *m;

    pthread_mutex_lock(&lock);
    m = made;
    if (!m)
        m = ssl->BIO_meth_new(
            ssl->BIO_get_new_index() | OPENSSL_BIO_SOURCE_SINK, "pprof socket");
    if (m && !made) {
        for_bio = ssl;
        ssl->BIO_meth_set_read(m, bio_read);
        ssl->BIO_meth_set_write(m, bio_write);
        ssl->BIO_meth_set_ctrl(m, bio_ctrl);
        made = m;
    }
    pthread_mutex_unlock(&lock);
    return m;
}

static bool attach(struct tls *t, int fd)
{
    struct bio_method_st *method = bio_method(t->ssl);
    struct bio_st *bio = method ? t->ssl->BIO_new(method) : NULL;

    if (!bio)
        return false;
    t->ssl->BIO_set_data(bio, (void *)(intptr_t)fd);
    t->ssl->BIO_set_init(bio, 1);
    t->ssl->SSL_set_bio(t->session, bio, bio);
    return true;
}

/* --- sessions ----------------------------------------------------------- */

static struct tls *new_session(const struct openssl *ssl,
                               struct ssl_ctx_st *context, int fd)
{
    struct tls *t = calloc(1, sizeof(*t));

    if (!t)
        return NULL;
    t->ssl = ssl;
    t->session = ssl->SSL_new(context);
    if (t->session && attach(t, fd))
        return t;
    ssl->SSL_free(t->session);
    free(t);
    return NULL;
}

struct tls *tls_accept(struct tls_server *s, int fd)
{
    const struct openssl *ssl = tls_server_openssl(s);
    struct tls *t;

    if (!openssl_enter())
        return NULL;
    t = new_session(ssl, tls_server_context(s), fd);
    if (t)
        ssl->SSL_set_accept_state(t->session);
    openssl_leave();
    return t;
}

static bool expect_name(struct tls *t, const char *name)
{
    struct X509_VERIFY_PARAM_st *param = t->ssl->SSL_get0_param(t->session);

    if (t->ssl->X509_VERIFY_PARAM_set1_ip_asc(param, name))
        return true;
    t->ssl->ERR_clear_error();
    t->ssl->SSL_ctrl(t->session, OPENSSL_CTRL_SERVER_NAME, 0, (void *)name);
    return t->ssl->SSL_set1_host(t->session, name) == 1;
}

struct tls *tls_connect(int fd, const struct tls_client_files *files,
                        const char *name, struct error *err)
{
    const struct openssl *ssl = openssl_load(err);
    struct ssl_ctx_st *context;
    struct tls *t = NULL;

    if (!ssl)
        return NULL;
    if (!openssl_enter()) {
        error_set(err, "the program is ending");
        return NULL;
    }
    context = tls_client_context(ssl, files, err);
    if (context) {
        t = new_session(ssl, context, fd);
        ssl->SSL_CTX_free(context); /* the session keeps it */
        if (!t)
            error_set(err, "out of memory");
    }
    if (t) {
        ssl->SSL_set_connect_state(t->session);
        if (!expect_name(t, name)) {
            error_set(err, "not a host name: %s", name);
            ssl->SSL_free(t->session);
            free(t);
            t = NULL;
        }
    }
    openssl_leave();
    return t;
}

void tls_free(struct tls *t)
{
    if (!t)
        return;
    if (openssl_enter()) {
        t->ssl->SSL_free(t->session);
        openssl_leave();
    }
    free(t);
}

/* --- bytes -------------------------------------------------------------- */

static void keep_reason(struct tls *t)
{
    long verified = t->ssl->SSL_get_verify_result(t->session);
    const char *words =
        t->ssl->ERR_reason_error_string(t->ssl->ERR_peek_last_error());

    if (verified != 0)
        words = t->ssl->X509_verify_cert_error_string(verified);
    snprintf(t->reason, sizeof(t->reason), "%s",
             words ? words : "the connection was closed");
}

static ssize_t result(struct tls *t, int n)
{
    int error = n > 0 ? 0 : t->ssl->SSL_get_error(t->session, n);

    if (!t->is_established)
        t->is_established = t->ssl->SSL_is_init_finished(t->session) == 1;
    if (n > 0) {
        t->wants = TLS_WANTS_READ; /* what comes next, if nothing is left */
        return n;
    }
    if (error == OPENSSL_ERROR_WANT_READ || error == OPENSSL_ERROR_WANT_WRITE) {
        t->wants =
            error == OPENSSL_ERROR_WANT_READ ? TLS_WANTS_READ : TLS_WANTS_WRITE;
        errno = EAGAIN;
        return -1;
    }
    t->is_over = true;
    if (error == OPENSSL_ERROR_ZERO_RETURN)
        return 0;
    keep_reason(t);
    t->ssl->ERR_clear_error();
    errno = EPROTO;
    return -1;
}

static bool enter(struct tls *t)
{
    if (!t->is_over && openssl_enter()) {
        t->ssl->ERR_clear_error();
        return true;
    }
    errno = EPROTO;
    return false;
}

static int at_most(size_t n)
{
    return n < INT_MAX ? (int)n : INT_MAX;
}

ssize_t tls_read(struct tls *t, void *to, size_t n)
{
    ssize_t got;

    if (!enter(t))
        return -1;
    got = result(t, t->ssl->SSL_read(t->session, to, at_most(n)));
    openssl_leave();
    return got;
}

ssize_t tls_write(struct tls *t, const void *from, size_t n)
{
    ssize_t sent;

    if (!enter(t))
        return -1;
    sent = result(t, t->ssl->SSL_write(t->session, from, at_most(n)));
    openssl_leave();
    return sent;
}

enum tls_wants tls_wants(const struct tls *t)
{
    return t->wants;
}

bool tls_is_established(const struct tls *t)
{
    return t->is_established;
}

bool tls_has_input(struct tls *t)
{
    bool has;

    if (!enter(t))
        return false;
    has = t->ssl->SSL_pending(t->session) > 0;
    openssl_leave();
    return has;
}

void tls_say_goodbye(struct tls *t)
{
    if (!enter(t))
        return;
    t->ssl->SSL_shutdown(t->session);
    t->ssl->ERR_clear_error();
    t->is_over = true;
    openssl_leave();
}

const char *tls_reason(const struct tls *t)
{
    return t->reason;
}

/* --- who it is ---------------------------------------------------------- */

/* Names with bytes that could fool a reader of the list are left out. */
static void add_name(struct buf *out, const char *kind, const void *data, int n)
{
    const unsigned char *bytes = data;

    if (!data || n <= 0)
        return;
    for (int i = 0; i < n; i++)
        if (bytes[i] < ' ' || bytes[i] == 0x7f)
            return;
    buf_addf(out, "%s:", kind);
    buf_add_bytes(out, data, (size_t)n);
    buf_add_char(out, '\0');
}

static void add_common_names(const struct openssl *ssl,
                             const struct x509_st *cert, struct buf *out)
{
    struct X509_name_st *subject = ssl->X509_get_subject_name(cert);
    int at = -1;

    while ((at = ssl->X509_NAME_get_index_by_NID(
                subject, OPENSSL_NID_COMMON_NAME, at)) >= 0) {
        unsigned char *text = NULL;
        int n = ssl->ASN1_STRING_to_UTF8(
            &text, ssl->X509_NAME_ENTRY_get_data(
                       ssl->X509_NAME_get_entry(subject, at)));

        if (n >= 0) {
            add_name(out, "CN", text, n);
            ssl->CRYPTO_free(text, __FILE__, __LINE__);
        }
    }
}

static void add_alternative(const struct openssl *ssl,
                            const struct GENERAL_NAME_st *name, struct buf *out)
{
    static const char *const kinds[] = {[OPENSSL_GEN_EMAIL] = "EMAIL",
                                        [OPENSSL_GEN_DNS] = "DNS",
                                        [OPENSSL_GEN_URI] = "URI",
                                        [OPENSSL_GEN_IP] = "IP"};
    int type = -1, n;
    const struct asn1_string_st *value =
        ssl->GENERAL_NAME_get0_value(name, &type);
    const unsigned char *bytes;

    if (type < 0 || type > OPENSSL_GEN_IP || !kinds[type])
        return;
    bytes = ssl->ASN1_STRING_get0_data(value);
    n = ssl->ASN1_STRING_length(value);
    if (type != OPENSSL_GEN_IP) {
        add_name(out, kinds[type], bytes, n);
        return;
    }
    buf_add(out, STR("IP:"));
    for (int i = 0; i < n; i++)
        buf_addf(out, "%02x", bytes[i]);
    buf_add_char(out, '\0');
}

static void add_alternatives(const struct openssl *ssl,
                             const struct x509_st *cert, struct buf *out)
{
    void *names =
        ssl->X509_get_ext_d2i(cert, OPENSSL_NID_ALTERNATIVES, NULL, NULL);

    if (!names)
        return;
    for (int i = 0; i < ssl->OPENSSL_sk_num(names); i++)
        add_alternative(ssl, ssl->OPENSSL_sk_value(names, i), out);
    ssl->GENERAL_NAMES_free(names);
}

bool tls_client_names(struct tls *t, struct buf *out)
{
    struct x509_st *cert;
    bool verified;

    if (!enter(t))
        return false;
    cert = t->ssl->SSL_get1_peer_certificate(t->session);
    verified = cert && t->ssl->SSL_get_verify_result(t->session) == 0;
    if (verified) {
        add_common_names(t->ssl, cert, out);
        add_alternatives(t->ssl, cert, out);
    }
    t->ssl->X509_free(cert);
    t->ssl->ERR_clear_error();
    openssl_leave();
    return verified && buf_ok(out);
}
