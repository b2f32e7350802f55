/*
 * One context serves every connection of a listener.  When a file changes, or
 * the keys of the tickets are old, another one is made; sessions keep the one
 * they were made with.
 */
#include "http/tls/tls_server.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file_version.h"
#include "http/tls/openssl.h"
#include "http/tls/tls_context.h"

#define LOOK_NS        SECOND
#define TICKET_KEYS_NS (3600 * SECOND)
#define TICKET_S       600

enum { CERT, KEY, CLIENT_CA, N_FILES };

struct tls_server {
    const struct openssl *ssl;
    struct ssl_ctx_st *context;
    char *paths[N_FILES];
    struct file_version used[N_FILES];  /* the files as they were read */
    struct file_version tried[N_FILES]; /* … or could not be used */
    int64_t next_look_ns;
    int64_t renew_ns; /* the keys of tickets */
    unsigned version; /* of the client CA */
};

const struct openssl *tls_server_openssl(const struct tls_server *s)
{
    return s->ssl;
}

struct ssl_ctx_st *tls_server_context(const struct tls_server *s)
{
    return s->context;
}

/* A resumed session skips the signature, which is most of a handshake.  One
 * ticket each: clients that want it open one connection at a time. */
static bool allow_tickets(const struct openssl *ssl, struct ssl_ctx_st *c)
{
    static const unsigned char id[] = "pprof";

    ssl->SSL_CTX_set_timeout(c, TICKET_S);
    return ssl->SSL_CTX_set_num_tickets(c, 1) == 1 &&
           ssl->SSL_CTX_set_session_id_context(c, id, sizeof(id) - 1) == 1;
}

static bool read_files(const struct tls_server *s, struct ssl_ctx_st *c,
                       struct error *err)
{
    const struct openssl *ssl = s->ssl;
    const char *ca = s->paths[CLIENT_CA];
    struct stack_st_X509_NAME *names;

    if (!ssl->SSL_CTX_use_certificate_chain_file(c, s->paths[CERT]))
        return tls_context_complain(ssl, s->paths[CERT], err);
    if (!ssl->SSL_CTX_use_PrivateKey_file(c, s->paths[KEY],
                                          OPENSSL_FILETYPE_PEM))
        return tls_context_complain(ssl, s->paths[KEY], err);
    if (!ssl->SSL_CTX_check_private_key(c))
        return error_set(err, "%s is not the key of %s", s->paths[KEY],
                         s->paths[CERT]);
    if (!ca)
        return true;
    names = ssl->SSL_load_client_CA_file(ca);
    if (!names)
        return tls_context_complain(ssl, ca, err);
    ssl->SSL_CTX_set_client_CA_list(c, names);
    return tls_context_trust(ssl, c, ca, err);
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
    c = tls_context_new(s->ssl, s->ssl->TLS_server_method());
    if (!c)
        error_set(err, "out of memory");
    else
        ok = allow_tickets(s->ssl, c) && read_files(s, c, err);
    if (!ok) {
        s->ssl->SSL_CTX_free(c);
        c = NULL;
    }
    s->ssl->ERR_pop_to_mark();
    openssl_leave();
    return c;
}

static void look(const struct tls_server *s, struct file_version *out)
{
    for (int i = 0; i < N_FILES; i++)
        out[i] = file_version_of(s->paths[i]);
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
        s->renew_ns = clock_monotonic_ns() + TICKET_KEYS_NS;
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

unsigned tls_server_version(const struct tls_server *s)
{
    return s->version;
}

bool tls_server_refresh(struct tls_server *s, struct error *err)
{
    struct file_version now[N_FILES] = {0};
    struct ssl_ctx_st *fresh;
    int64_t now_ns = clock_monotonic_ns();
    bool is_news;

    if (now_ns < s->next_look_ns)
        return true;
    s->next_look_ns = now_ns + LOOK_NS;
    look(s, now);
    if (memcmp(now, s->used, sizeof(now)) == 0 && now_ns < s->renew_ns)
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
    if (memcmp(&now[CLIENT_CA], &s->used[CLIENT_CA], sizeof(now[0])) != 0)
        s->version++;
    memcpy(s->used, now, sizeof(now));
    s->renew_ns = now_ns + TICKET_KEYS_NS;
    return true;
}
