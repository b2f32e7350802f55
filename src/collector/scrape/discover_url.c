/*
 * Targets from a web server, as Prometheus' HTTP discovery has it: a list of
 * groups as JSON.  Certificates and credentials are those of the job.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "collector/scrape/discoveries.h"
#include "collector/scrape/refresh.h"
#include "collector/scrape/target_groups.h"
#include "config/document.h"
#include "fetch/http_fetch.h"

#define TIMEOUT_NS (20 * SECOND)

struct web {
    const struct keys_http_sd *config;
    const struct scrape_access *access;
    struct buf last; /* the reply that the targets are from */
};

static struct http_options options_of(const struct web *w, struct arena *a,
                                      struct str *header)
{
    const struct scrape_access *x = w->access;
    struct http_options o = {.tls_cert = x->tls.cert_file,
                             .tls_key = x->tls.key_file,
                             .tls_ca = x->tls.ca_file,
                             .tls_server_name = x->tls.server_name,
                             .token_file = x->authorization.credentials_file,
                             .timeout_ns = TIMEOUT_NS,
                             .max_reply = target_groups_limits.bytes};

    if (x->basic.username.n)
        o.login = str_from(arena_printf(a, "%" STR_FMT ":%" STR_FMT,
                                        STR_ARG(x->basic.username),
                                        STR_ARG(x->basic.password)));
    if (x->authorization.credentials.n) {
        *header =
            str_from(arena_printf(a, "Authorization: %" STR_FMT " %" STR_FMT,
                                  STR_ARG(x->authorization.type),
                                  STR_ARG(x->authorization.credentials)));
        o.headers = header;
        o.n_headers = 1;
    }
    return o;
}

static bool read_reply(struct web *w, struct arena *a, struct http_reply *reply,
                       struct scrape_targets *out, bool *same,
                       struct error *err)
{
    const char *url = arena_cstr(a, w->config->url);
    const struct node *root;

    if (reply->status != 200) {
        http_error_words(reply, err);
        return error_wrap(err, "%s", url);
    }
    *same = w->last.data && str_eq(buf_str(&w->last), buf_str(&reply->body));
    if (*same)
        return true;
    root = document_read_json(
        a, (struct document_source){url, buf_str(&reply->body)},
        &target_groups_limits, err);
    if (!root || !target_groups_read(out, a, root, err))
        return false;
    for (size_t i = 0; i < out->list.n; i++)
        label_set_put(a, &out->list.v[i], STR("__meta_url"), w->config->url);
    buf_release(&w->last);
    w->last = reply->body;
    reply->body = (struct buf){0};
    return true;
}

static bool load(void *self, struct arena *a, struct scrape_targets *out,
                 bool *same, struct error *err)
{
    struct web *w = self;
    struct str header;
    struct http_options o = options_of(w, a, &header);
    struct http_reply reply = {0};
    bool ok = http_fetch(w->config->url, false, STR(""), &o, &reply, err) &&
              read_reply(w, a, &reply, out, same, err);

    buf_release(&reply.body);
    return ok;
}

static void web_free(void *self)
{
    struct web *w = self;

    buf_release(&w->last);
    free(w);
}

bool discovery_of_url(const struct keys_http_sd *config,
                      const struct scrape_access *access, struct discovery *out,
                      struct error *err)
{
    struct web *w = calloc(1, sizeof(*w));

    if (!w)
        return error_set(err, "out of memory");
    w->config = config;
    w->access = access;
    return refresh_new(
        &(struct refresh_source){.load = load,
                                 .free = web_free,
                                 .self = w,
                                 .interval_ns = config->refresh_ns,
                                 .name = "http_sd_configs"},
        out, err);
}
