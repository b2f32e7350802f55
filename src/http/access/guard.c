/*
 * The methods are tried from the cheapest to the most expensive.  A secret is
 * compared before the number of wrong ones is looked at: a client with a valid
 * one is admitted however many wrong ones come from the same address (a
 * port-forward makes everybody 127.0.0.1).  Wrong secrets beyond the limit cost
 * their sender the connection.
 */
#include "http/access/guard.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/percent.h"
#include "base/secret_file.h"
#include "http/access/credentials.h"
#include "http/access/kube_review.h"
#include "http/access/tokens.h"
#include "http/server/host.h"
#include "http/server/rate.h"
#include "http/tls/certificate.h"

#define GUESSES_A_MINUTE 60
#define MAX_PATH_BYTES   512

struct guard {
    struct guard_options o; /* its texts are copies */
    struct tokens *tokens;
    struct kube_review *review;
    pthread_mutex_t lock; /* of the next one */
    struct rate guesses;  /* wrong secrets of a client address */
};

static void say(const struct guard *g, const char *words)
{
    if (g->o.say)
        g->o.say(g->o.arg, words);
}

/* --- life ----------------------------------------------------------------- */

static bool copy_text(const char **text)
{
    if (!*text)
        return true;
    *text = strdup(*text);
    return *text != NULL;
}

static bool copy_texts(struct guard *g)
{
    const char **texts[] = {&g->o.client_allow, &g->o.token_file, &g->o.hosts,
                            &g->o.host_hint};
    bool ok = true;

    /* All of them, so that guard_free() meets none of the caller's. */
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        ok = copy_text(texts[i]) && ok;
    return ok;
}

static bool set_up(struct guard *g, struct error *err)
{
    if (!copy_texts(g))
        return error_set(err, "out of memory");
    if (g->o.client_allow && str_trim(str_from(g->o.client_allow)).n == 0)
        return error_set(err, "the list of allowed client names is empty; "
                              "name the clients, or leave it out to allow "
                              "every certificate of the CA");
    if (g->o.token_file)
        g->tokens = tokens_new(g->o.token_file, err);
    if (g->o.token_file && !g->tokens)
        return false;
    if (g->o.token_file)
        secret_file_warn(g->o.token_file, g->o.say, g->o.arg);
    if (g->o.kubernetes)
        g->review = kube_review_new(err);
    return !g->o.kubernetes || g->review;
}

struct guard *guard_new(const struct guard_options *options, struct error *err)
{
    struct guard *g = calloc(1, sizeof(*g));

    if (!g) {
        error_set(err, "out of memory");
        return NULL;
    }
    g->o = *options;
    g->guesses = (struct rate){.per_minute = GUESSES_A_MINUTE,
                               .seed = (uint64_t)clock_monotonic_ns()};
    pthread_mutex_init(&g->lock, NULL);
    if (set_up(g, err))
        return g;
    guard_free(g);
    return NULL;
}

void guard_free(struct guard *g)
{
    if (!g)
        return;
    tokens_free(g->tokens);
    kube_review_free(g->review);
    pthread_mutex_destroy(&g->lock);
    free((char *)g->o.client_allow);
    free((char *)g->o.token_file);
    free((char *)g->o.hosts);
    free((char *)g->o.host_hint);
    free(g);
}

/* --- who it is ------------------------------------------------------------ */

static void identify(struct http_exchange *x, const char *name)
{
    x->identity = (struct http_identity){
        .is_authenticated = true, .scopes = HTTP_MAY_READ | HTTP_MAY_WRITE};
    snprintf(x->identity.name, sizeof(x->identity.name), "%s", name);
}

static bool is_own_user(struct http_exchange *x)
{
    const struct http_client *client = x->client;
    char name[32];

    if (!client->is_unix || (client->uid != geteuid() && client->uid != 0))
        return false;
    snprintf(name, sizeof(name), "uid %u", (unsigned)client->uid);
    identify(x, name);
    return true;
}

static bool has_good_certificate(const struct guard *g, struct http_exchange *x)
{
    struct str names = buf_str(&x->client->names), first;
    char name[HTTP_NAME_MAX];

    if (!g->o.certificates || !x->client->has_certificate)
        return false;
    if (g->o.client_allow &&
        !certificate_is_listed(names, str_from(g->o.client_allow)))
        return false;
    first = certificate_first_name(names);
    snprintf(name, sizeof(name), "%" STR_FMT, STR_ARG(first));
    identify(x, name);
    return true;
}

static bool has_good_token(struct guard *g, struct http_exchange *x,
                           const struct credentials *c)
{
    struct error err;

    if (!g->tokens)
        return false;
    if (!tokens_refresh(g->tokens, &err)) {
        error_wrap(&err, "no token is valid until the file is readable again");
        say(g, err.text);
    }
    return tokens_have(g->tokens, c, &x->identity);
}

/* --- refusals ------------------------------------------------------------- */

static enum http_admission refuse(struct http_exchange *x, int status,
                                  const char *words)
{
    http_exchange_refuse(x, status, words);
    return HTTP_REFUSED;
}

static enum http_admission ask_for_secret(struct http_exchange *x)
{
    http_exchange_header(x, "WWW-Authenticate",
                         STR("Basic realm=\"pprof\", charset=\"UTF-8\""));
    http_exchange_header(x, "WWW-Authenticate", STR("Bearer realm=\"pprof\""));
    return refuse(x, 401, "Unauthorized");
}

static bool has_guessed_too_often(struct guard *g,
                                  const struct http_client *client,
                                  bool is_wrong)
{
    char room[HTTP_NETWORK_MAX];
    struct str from = http_client_network(client, room);
    int64_t now_ns = clock_monotonic_ns();
    bool too_often;

    pthread_mutex_lock(&g->lock);
    too_often = rate_is_used_up(&g->guesses, from, now_ns);
    if (is_wrong)
        rate_allows(&g->guesses, from, now_ns);
    pthread_mutex_unlock(&g->lock);
    return too_often;
}

static enum http_admission refuse_guess(struct http_exchange *x)
{
    x->closes = true;
    http_exchange_retry_after(x, 429, 60,
                              "too many failed logins; wait a minute");
    return HTTP_REFUSED;
}

/* --- the cluster ---------------------------------------------------------- */

static enum http_admission obey(struct guard *g, struct http_exchange *x,
                                enum review_verdict verdict, const char *name,
                                const struct error *err)
{
    char words[HTTP_NAME_MAX + 64];

    switch (verdict) {
    case REVIEW_ALLOWED:
        identify(x, name);
        return HTTP_ADMITTED;
    case REVIEW_FORBIDDEN:
        snprintf(words, sizeof(words), "Authorization denied for user %s",
                 name);
        return refuse(x, 403, words);
    case REVIEW_UNKNOWN:
        return ask_for_secret(x);
    case REVIEW_FAILED:
        break;
    }
    if (err)
        say(g, err->text);
    http_exchange_retry_after(x, 503, 5,
                              "the cluster could not check your credentials");
    return HTTP_REFUSED;
}

static struct str method_for_rbac(const struct guard *g,
                                  const struct http_exchange *x)
{
    if (g->o.posts_read && str_eq(x->request->method, STR("POST")))
        return STR("GET");
    return x->request->method;
}

/* The path as RBAC knows it; "" if it cannot be asked about. */
static struct str path_for_rbac(const struct guard *g,
                                const struct http_exchange *x,
                                char out[MAX_PATH_BYTES])
{
    struct str path = x->request->path;
    size_t before = g->o.rbac_prefix ? strlen(g->o.rbac_prefix) : 0;
    ptrdiff_t n;

    if (before + path.n > MAX_PATH_BYTES)
        return STR("");
    if (before)
        memcpy(out, g->o.rbac_prefix, before);
    n = percent_decode(path, false, out + before);
    if (n < 0 || memchr(out + before, '\0', (size_t)n))
        return STR("");
    return str_of(out, before + (size_t)n);
}

static enum http_admission ask_cluster(struct guard *g, struct http_exchange *x,
                                       const struct credentials *c,
                                       bool may_wait)
{
    char decoded[MAX_PATH_BYTES], name[HTTP_NAME_MAX] = "";
    struct str path = path_for_rbac(g, x, decoded);
    struct str method = method_for_rbac(g, x);
    enum review_verdict verdict;
    struct error err;

    if (path.n == 0)
        return refuse(x, 403, "Forbidden");
    if (kube_review_remembers(g->review, c->secret, method, path, name,
                              sizeof(name), &verdict))
        return obey(g, x, verdict, name, NULL);
    if (has_guessed_too_often(g, x->client, false))
        return refuse_guess(x);
    if (!may_wait)
        return HTTP_UNDECIDED;
    verdict = kube_review_ask(g->review, c->secret, method, path, name,
                              sizeof(name), &err);
    return obey(g, x, verdict, name, &err);
}

/* --- admission ------------------------------------------------------------ */

static enum http_admission check_secret(struct guard *g,
                                        struct http_exchange *x, bool may_wait)
{
    enum http_admission admission;
    struct credentials c;

    credentials_read(x->request, &c);
    if (c.kind != CREDENTIALS_BEARER && c.kind != CREDENTIALS_BASIC)
        return ask_for_secret(x);
    if (has_good_token(g, x, &c))
        admission = HTTP_ADMITTED;
    else if (g->review)
        admission = ask_cluster(g, x, &c, may_wait);
    else
        admission = has_guessed_too_often(g, x->client, false)
                        ? refuse_guess(x)
                        : ask_for_secret(x);
    if (admission == HTTP_REFUSED)
        has_guessed_too_often(g, x->client, true);
    explicit_bzero(&c, sizeof(c));
    return admission;
}

static enum http_admission check_key(struct guard *g, struct http_exchange *x)
{
    if (!access_key_check(g->o.key, x))
        return HTTP_REFUSED;
    identify(x, "key");
    return HTTP_ADMITTED;
}

static enum http_admission refuse_stranger(struct http_exchange *x)
{
    const struct http_client *client = x->client;

    if (client->is_unix)
        return refuse(x, 403,
                      "only the program's own user may use this socket");
    if (client->has_certificate)
        return refuse(x, 403,
                      "your certificate is not in the list of clients that may "
                      "read profiles");
    return refuse(x, 403, "a client certificate is required");
}

static bool authenticates(const struct guard *g)
{
    return g->o.certificates || g->tokens || g->review || g->o.key;
}

/* Requests that a browser was made to send.  NULL: none. */
static const char *browser_trouble(const struct guard *g,
                                   const struct http_exchange *x)
{
    const char *hosts = g->o.hosts ? g->o.hosts : authenticates(g) ? "*" : NULL;

    if (x->client->is_unix) /* no browser gets there */
        return NULL;
    if (http_is_cross_site(x->request, g->o.may_navigate))
        return "requests from other sites' pages are not allowed";
    if (!http_host_is_well_formed(x->request))
        return "the Host header is not a host and port";
    if (!http_host_is_fine(x->request, hosts))
        return g->o.host_hint
                   ? g->o.host_hint
                   : "the Host header is not an address of this machine";
    return NULL;
}

enum http_admission guard_admit(struct guard *g, struct http_exchange *x,
                                bool may_wait)
{
    const char *trouble = browser_trouble(g, x);

    if (g->o.local_only && !http_client_is_local(x->client))
        return refuse(x, 403, "permission denied");
    if (trouble)
        return refuse(x, 403, trouble);
    if (is_own_user(x) || has_good_certificate(g, x))
        return HTTP_ADMITTED;
    if (g->o.key)
        return check_key(g, x);
    if (g->tokens || g->review)
        return check_secret(g, x, may_wait);
    if (!authenticates(g) && !x->client->is_unix)
        return HTTP_ADMITTED;
    return refuse_stranger(x);
}

/* --- what it may ---------------------------------------------------------- */

static bool is_listed(struct str list, struct str service)
{
    struct str one;

    while (str_split(&list, ',', &one)) {
        bool is_prefix = str_has_suffix(one, STR("*"));

        if (is_prefix)
            one.n--;
        if (is_prefix ? str_has_prefix(service, one) : str_eq(service, one))
            return true;
    }
    return false;
}

bool guard_allows(const struct http_identity *who, unsigned scope,
                  struct str service)
{
    struct str list = str_from(who->services);

    return (who->scopes & scope) == scope &&
           (service.n == 0 || list.n == 0 || is_listed(list, service));
}

bool guard_require(struct http_exchange *x, unsigned scope, struct str service)
{
    if (guard_allows(&x->identity, scope, service))
        return true;
    http_exchange_refuse(x, 403,
                         (x->identity.scopes & scope) == scope
                             ? "this token is not for that service"
                         : scope & HTTP_MAY_WRITE ? "this token may not write"
                                                  : "this token may not read");
    return false;
}
