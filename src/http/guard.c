#include "http/guard.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/percent.h"
#include "http/certificate.h"
#include "http/credentials.h"
#include "http/host.h"
#include "http/rate.h"
#include "http/review.h"
#include "http/tokens.h"

#define GUESSES_A_MINUTE 60
#define MAX_PATH_BYTES   512

struct guard {
    struct guard_options o; /* its texts are copies */
    struct tokens *tokens;
    struct review *review;
    pthread_mutex_t lock; /* of the next one */
    struct rate guesses;  /* wrong secrets of a client */
};

static void say(const struct guard *g, const char *words)
{
    if (g->o.say)
        g->o.say(g->o.arg, words);
}

static bool copy_text(const char **text)
{
    if (!*text || !**text) {
        *text = NULL;
        return true;
    }
    *text = strdup(*text);
    return *text != NULL;
}

static void warn_of_exposed_tokens(const struct guard *g)
{
    char words[512];

    if (!tokens_are_exposed(g->o.token_file))
        return;
    snprintf(words, sizeof(words),
             "%s: other users can get at these secrets; chmod 600 it",
             g->o.token_file);
    say(g, words);
}

struct guard *guard_new(const struct guard_options *options, struct error *err)
{
    struct guard *g = calloc(1, sizeof(*g));
    bool is_whole;

    if (!g) {
        error_set(err, "out of memory");
        return NULL;
    }
    g->o = *options;
    g->guesses = (struct rate){.per_minute = GUESSES_A_MINUTE,
                               .seed = (uint64_t)clock_monotonic_ns()};
    pthread_mutex_init(&g->lock, NULL);
    /* All three, so that guard_free() meets none of the caller's. */
    is_whole = copy_text(&g->o.client_allow);
    is_whole = copy_text(&g->o.token_file) && is_whole;
    is_whole = copy_text(&g->o.hosts) && is_whole;
    if (!is_whole) {
        error_set(err, "out of memory");
        guard_free(g);
        return NULL;
    }
    if (g->o.token_file) {
        g->tokens = tokens_new(g->o.token_file, err);
        if (!g->tokens) {
            guard_free(g);
            return NULL;
        }
        warn_of_exposed_tokens(g);
    }
    if (g->o.kubernetes) {
        g->review = review_new(err);
        if (!g->review) {
            guard_free(g);
            return NULL;
        }
    }
    return g;
}

void guard_free(struct guard *g)
{
    if (!g)
        return;
    tokens_free(g->tokens);
    review_free(g->review);
    pthread_mutex_destroy(&g->lock);
    free((char *)g->o.client_allow);
    free((char *)g->o.token_file);
    free((char *)g->o.hosts);
    free(g);
}

/* Nobody is asked who he is. */
static bool is_open(const struct guard *g)
{
    return !g->o.certificates && !g->tokens && !g->review;
}

static bool has_good_certificate(const struct guard *g,
                                 const struct http_client *client, char *who)
{
    struct str names = buf_str(&client->names);

    if (!g->o.certificates || !client->has_certificate)
        return false;
    if (g->o.client_allow &&
        !certificate_is_listed(names, str_from(g->o.client_allow)))
        return false;
    snprintf(who, GUARD_WHO_MAX, "%" STR_FMT,
             STR_ARG(certificate_first_name(names)));
    return true;
}

static void ask_for_secret(struct http_exchange *x)
{
    http_exchange_header(x, "WWW-Authenticate",
                         STR("Basic realm=\"pprof\", charset=\"UTF-8\""));
    http_exchange_header(x, "WWW-Authenticate", STR("Bearer realm=\"pprof\""));
    http_exchange_refuse(x, 401, "Unauthorized");
}

static bool has_good_token(struct guard *g, const struct credentials *c,
                           char *who)
{
    struct error err;

    if (!g->tokens)
        return false;
    if (!tokens_refresh(g->tokens, &err)) {
        error_wrap(&err, "nobody has a token any more");
        say(g, err.text);
    }
    return tokens_have(g->tokens, c, who, GUARD_WHO_MAX);
}

/* Says no in the words of the cluster; true: it says yes. */
static bool ask_cluster(struct guard *g, struct http_exchange *x,
                        const struct credentials *c, char *who)
{
    char decoded[MAX_PATH_BYTES], words[GUARD_WHO_MAX + 64];
    struct str path = x->request->path;
    ptrdiff_t n =
        path.n <= sizeof(decoded) ? percent_decode(path, false, decoded) : -1;
    struct error err;

    if (n < 0 || memchr(decoded, '\0', (size_t)n)) {
        http_exchange_refuse(x, 403, "Forbidden");
        return false;
    }
    switch (review_ask(g->review, c->secret, x->request->method,
                       str_of(decoded, (size_t)n), who, GUARD_WHO_MAX, &err)) {
    case REVIEW_ALLOWED:
        return true;
    case REVIEW_FORBIDDEN:
        snprintf(words, sizeof(words), "Authorization denied for user %s", who);
        http_exchange_refuse(x, 403, words);
        return false;
    case REVIEW_UNKNOWN:
        ask_for_secret(x);
        return false;
    case REVIEW_FAILED:
        break;
    }
    say(g, err.text);
    http_exchange_refuse(x, 503, "the cluster cannot be asked who you are");
    return false;
}

static bool guesses(struct guard *g, const struct http_client *client,
                    bool wrong)
{
    struct str host = http_client_host(client);
    int64_t now_ns = clock_monotonic_ns();
    bool too_often;

    pthread_mutex_lock(&g->lock);
    if (wrong)
        rate_allows(&g->guesses, host, now_ns);
    too_often = rate_is_used_up(&g->guesses, host, now_ns);
    pthread_mutex_unlock(&g->lock);
    return too_often;
}

/* By a secret alone.  False: the exchange is answered. */
static bool check_secret(struct guard *g, struct http_exchange *x, char *who)
{
    struct credentials c;
    bool passes;

    credentials_read(x->request, &c);
    if (c.kind != CREDENTIALS_BEARER && c.kind != CREDENTIALS_BASIC) {
        ask_for_secret(x);
        return false;
    }
    if (guesses(g, x->client, false)) {
        http_exchange_refuse(x, 429, "too many wrong secrets; wait a minute");
        return false;
    }
    passes = has_good_token(g, &c, who);
    if (!passes && g->review)
        passes = ask_cluster(g, x, &c, who);
    else if (!passes)
        ask_for_secret(x);
    if (!passes)
        guesses(g, x->client, true);
    explicit_bzero(&c, sizeof(c));
    return passes;
}

static bool is_good_neighbour(const struct http_client *client, char *who)
{
    if (!client->is_unix || (client->uid != geteuid() && client->uid != 0))
        return false;
    snprintf(who, GUARD_WHO_MAX, "uid %u", (unsigned)client->uid);
    return true;
}

static void refuse(struct http_exchange *x)
{
    const struct http_client *client = x->client;

    if (client->is_unix)
        http_exchange_refuse(x, 403,
                             "this socket is for the program's own user");
    else if (client->has_certificate)
        http_exchange_refuse(x, 403,
                             "your certificate is none of those that may read "
                             "profiles");
    else
        http_exchange_refuse(x, 403, "a client certificate is needed");
}

/* Nobody is asked, but nobody's browser may be misused. */
static bool check_host(const struct guard *g, struct http_exchange *x,
                       char *who)
{
    snprintf(who, GUARD_WHO_MAX, "-");
    if (http_host_is_fine(x->request, g->o.hosts))
        return true;
    http_exchange_refuse(x, 403,
                         "the Host header is no address of this machine; if "
                         "the name is right, allow it with PPROF_HOSTS");
    return false;
}

bool guard_check(struct guard *g, struct http_exchange *x, char *who)
{
    who[0] = '\0';
    if (is_good_neighbour(x->client, who) ||
        has_good_certificate(g, x->client, who))
        return true;
    if (is_open(g) && !x->client->is_unix)
        return check_host(g, x, who);
    if (g->tokens || g->review)
        return check_secret(g, x, who);
    refuse(x);
    return false;
}
