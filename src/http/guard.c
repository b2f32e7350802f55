#include "http/guard.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "http/certificate.h"
#include "http/credentials.h"
#include "http/host.h"
#include "http/tokens.h"

struct guard {
    struct guard_options o; /* its texts are copies */
    struct tokens *tokens;
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

    if (!g) {
        error_set(err, "out of memory");
        return NULL;
    }
    g->o = *options;
    if (!(copy_text(&g->o.client_allow) & copy_text(&g->o.token_file) &
          copy_text(&g->o.hosts))) {
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
    return g;
}

void guard_free(struct guard *g)
{
    if (!g)
        return;
    tokens_free(g->tokens);
    free((char *)g->o.client_allow);
    free((char *)g->o.token_file);
    free((char *)g->o.hosts);
    free(g);
}

/* Nobody is asked who he is. */
static bool is_open(const struct guard *g)
{
    return !g->o.certificates && !g->tokens && !g->o.kubernetes;
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

static bool is_good_neighbour(const struct http_client *client, char *who)
{
    if (!client->is_unix || (client->uid != geteuid() && client->uid != 0))
        return false;
    snprintf(who, GUARD_WHO_MAX, "uid %u", (unsigned)client->uid);
    return true;
}

static void refuse(const struct guard *g, struct http_exchange *x)
{
    const struct http_client *client = x->client;
    bool takes_secrets = g->tokens || g->o.kubernetes;

    if (takes_secrets) {
        http_exchange_header(x, "WWW-Authenticate",
                             STR("Basic realm=\"pprof\", charset=\"UTF-8\""));
        http_exchange_header(x, "WWW-Authenticate",
                             STR("Bearer realm=\"pprof\""));
        http_exchange_refuse(x, 401, "Unauthorized");
    } else if (client->is_unix) {
        http_exchange_refuse(x, 403,
                             "this socket is for the program's own user");
    } else if (client->has_certificate) {
        http_exchange_refuse(x, 403,
                             "your certificate is none of those that may read "
                             "profiles");
    } else if (!client->is_tls) {
        http_exchange_refuse(x, 403, "client certificates need TLS");
    } else {
        http_exchange_refuse(x, 403, "a client certificate is needed");
    }
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
    struct credentials credentials;

    who[0] = '\0';
    if (is_good_neighbour(x->client, who) ||
        has_good_certificate(g, x->client, who))
        return true;
    if (is_open(g) && !x->client->is_unix)
        return check_host(g, x, who);
    credentials_read(x->request, &credentials);
    if (has_good_token(g, &credentials, who))
        return true;
    refuse(g, x);
    return false;
}
