#include "http/tls_context.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/stamp.h"

#define LOOK_NS 1000000000

/* Forward secrecy and authenticated encryption; TLS 1.3 has nothing else. */
#define CIPHERS "ECDHE+AESGCM:ECDHE+CHACHA20"

enum { CERT, KEY, CLIENT_CA, N_FILES };

struct tls_server {
    const struct openssl *ssl;
    struct ssl_ctx_st *context;
    char *paths[N_FILES];
    struct stamp used[N_FILES];  /* the files as they were read */
    struct stamp tried[N_FILES]; /* … or could not be used */
    int64_t next_look_ns;
};

const struct openssl *tls_server_openssl(const struct tls_server *s)
{
    return s->ssl;
}

struct ssl_ctx_st *tls_server_context(const struct tls_server *s)
{
    return s->context;
}

/* A key with a password is refused; nobody is asked for it on a terminal. */
static int no_password(char *to, int size, int writing, void *arg)
{
    (void)to, (void)size, (void)writing, (void)arg;
    return 0;
}

static struct ssl_ctx_st *new_context(const struct openssl *ssl,
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
    /* No session lives longer than its connection: each one has its
     * certificate checked against the CA of the day. */
    ssl->SSL_CTX_ctrl(c, OPENSSL_CTRL_SESSION_CACHE, 0, NULL);
    ssl->SSL_CTX_set_num_tickets(c, 0);
    ssl->SSL_CTX_set_options(c, OPENSSL_NO_TICKET | OPENSSL_NO_COMPRESSION |
                                    OPENSSL_SERVER_PREFERENCE |
                                    (uint64_t)OPENSSL_NO_RENEGOTIATION);
    ssl->SSL_CTX_set_default_passwd_cb(c, no_password);
    if (ssl->SSL_CTX_set_cipher_list(c, CIPHERS))
        return c;
    ssl->SSL_CTX_free(c);
    return NULL;
}

static bool complain(const struct openssl *ssl, const char *path,
                     struct error *err)
{
    const char *words =
        ssl->ERR_reason_error_string(ssl->ERR_peek_last_error());

    return error_set(err, "%s: %s", path, words ? words : "cannot be read");
}

/* Who signed it is enough: intermediate CAs and single certificates may be
 * trusted, as they may in Go. */
static bool trust(const struct openssl *ssl, struct ssl_ctx_st *c,
                  const char *ca_file, struct error *err)
{
    if (!ssl->SSL_CTX_load_verify_file(c, ca_file))
        return complain(ssl, ca_file, err);
    ssl->X509_VERIFY_PARAM_set_flags(ssl->SSL_CTX_get0_param(c),
                                     OPENSSL_PARTIAL_CHAIN);
    ssl->SSL_CTX_set_verify(c, OPENSSL_VERIFY_PEER, NULL);
    return true;
}

static bool read_files(const struct tls_server *s, struct ssl_ctx_st *c,
                       struct error *err)
{
    const struct openssl *ssl = s->ssl;
    const char *ca = s->paths[CLIENT_CA];
    struct stack_st_X509_NAME *names;

    if (!ssl->SSL_CTX_use_certificate_chain_file(c, s->paths[CERT]))
        return complain(ssl, s->paths[CERT], err);
    if (!ssl->SSL_CTX_use_PrivateKey_file(c, s->paths[KEY],
                                          OPENSSL_FILETYPE_PEM))
        return complain(ssl, s->paths[KEY], err);
    if (!ssl->SSL_CTX_check_private_key(c))
        return error_set(err, "%s is not the key of %s", s->paths[KEY],
                         s->paths[CERT]);
    if (!ca)
        return true;
    names = ssl->SSL_load_client_CA_file(ca);
    if (!names)
        return complain(ssl, ca, err);
    ssl->SSL_CTX_set_client_CA_list(c, names);
    return trust(ssl, c, ca, err);
}

static struct ssl_ctx_st *load(const struct tls_server *s, struct error *err)
{
    struct ssl_ctx_st *c = NULL;
    bool ok = false;

    if (!openssl_enter()) {
        error_set(err, "the program is ending");
        return NULL;
    }
    s->ssl->ERR_set_mark(); /* the program's own errors stay */
    c = new_context(s->ssl, s->ssl->TLS_server_method());
    if (!c)
        error_set(err, "out of memory");
    else
        ok = read_files(s, c, err);
    if (!ok) {
        s->ssl->SSL_CTX_free(c);
        c = NULL;
    }
    s->ssl->ERR_pop_to_mark();
    openssl_leave();
    return c;
}

struct ssl_ctx_st *tls_client_context(const struct openssl *ssl,
                                      const char *ca_file, struct error *err)
{
    struct ssl_ctx_st *c = new_context(ssl, ssl->TLS_client_method());

    if (!c) {
        error_set(err, "out of memory");
        return NULL;
    }
    if (trust(ssl, c, ca_file, err))
        return c;
    ssl->ERR_clear_error();
    ssl->SSL_CTX_free(c);
    return NULL;
}

static void look(const struct tls_server *s, struct stamp *out)
{
    for (int i = 0; i < N_FILES; i++)
        out[i] = stamp_of(s->paths[i]);
}

static bool copy_paths(struct tls_server *s, const struct tls_files *files)
{
    s->paths[CERT] = strdup(files->cert);
    s->paths[KEY] = strdup(files->key);
    s->paths[CLIENT_CA] = files->client_ca ? strdup(files->client_ca) : NULL;
    return s->paths[CERT] && s->paths[KEY] &&
           (!files->client_ca || s->paths[CLIENT_CA]);
}

struct tls_server *tls_server_new(const struct tls_files *files,
                                  struct error *err)
{
    const struct openssl *ssl = openssl_load(err);
    struct tls_server *s = ssl ? calloc(1, sizeof(*s)) : NULL;

    if (!s) {
        if (ssl)
            error_set(err, "out of memory");
        return NULL;
    }
    s->ssl = ssl;
    if (copy_paths(s, files)) {
        look(s, s->used);
        s->context = load(s, err);
    } else {
        error_set(err, "out of memory");
    }
    if (s->context)
        return s;
    tls_server_free(s);
    return NULL;
}

void tls_server_free(struct tls_server *s)
{
    if (!s)
        return;
    if (openssl_enter()) {
        s->ssl->SSL_CTX_free(s->context);
        openssl_leave();
    }
    for (int i = 0; i < N_FILES; i++)
        free(s->paths[i]);
    free(s);
}

bool tls_server_refresh(struct tls_server *s, struct error *err)
{
    struct stamp now[N_FILES] = {0};
    struct ssl_ctx_st *fresh;
    int64_t now_ns = clock_monotonic_ns();
    bool is_news;

    if (now_ns < s->next_look_ns)
        return true;
    s->next_look_ns = now_ns + LOOK_NS;
    look(s, now);
    if (memcmp(now, s->used, sizeof(now)) == 0)
        return true;
    fresh = load(s, err);
    is_news = memcmp(now, s->tried, sizeof(now)) != 0;
    memcpy(s->tried, now, sizeof(now));
    if (!fresh)
        return !is_news;
    if (openssl_enter()) {
        s->ssl->SSL_CTX_free(s->context);
        openssl_leave();
    }
    s->context = fresh;
    memcpy(s->used, now, sizeof(now));
    return true;
}
