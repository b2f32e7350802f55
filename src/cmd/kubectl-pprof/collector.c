#include "cmd/kubectl-pprof/collector.h"

#include "base/percent.h"
#include "fetch/http_fetch.h"

#define TIMEOUT_NS ((int64_t)60 * 1000000000)
#define REPLY_MAX  ((size_t)256 << 20)

struct str collector_service(const struct kubectl_pod *pod)
{
    ptrdiff_t slash = str_find_char(pod->owner, '/');

    if (pod->service.n)
        return pod->service;
    return slash < 0 ? pod->name : str_skip(pod->owner, (size_t)slash + 1);
}

/* "http://HOST:PORT" whatever form was given: profefe's flag is a host and a
 * port. */
static void add_base(struct buf *url, const char *collector)
{
    struct str text = str_from(collector);

    while (text.n && text.s[text.n - 1] == '/')
        text = str_first(text, text.n - 1);
    if (!str_contains(text, STR("://")))
        buf_add(url, STR("http://"));
    buf_add(url, text);
}

static bool exchange(const struct session *s, struct str url, bool post,
                     struct str body, struct buf *out, struct error *err)
{
    struct http_options http = {.token_file =
                                    str_from(s->args->collector_token_file),
                                .timeout_ns = TIMEOUT_NS,
                                .max_reply = REPLY_MAX};
    struct http_reply reply = {0};
    bool ok = http_fetch(url, post, body, &http, &reply, err);

    if (ok && reply.status != 200 && reply.status != 201) {
        int status = reply.status;

        http_error_words(&reply, err);
        err->code = status;
        ok = false;
    }
    if (ok && out)
        buf_add(out, buf_str(&reply.body));
    buf_release(&reply.body);
    return ok || error_wrap(err, "collector %s", s->args->collector);
}

static void add_label(struct buf *url, const char *name, struct str value,
                      bool *first)
{
    if (value.n == 0)
        return;
    buf_addf(url, "%s%s=", *first ? "&labels=" : ",", name);
    percent_encode(url, value, "");
    *first = false;
}

bool collector_send(const struct session *s, struct arena *a,
                    const struct collector_profile *p, struct error *err)
{
    struct buf url = arena_buf(a);
    bool first = true;

    add_base(&url, s->args->collector);
    buf_add(&url, STR("/api/0/profiles?service="));
    percent_encode(&url, p->service, "");
    buf_add(&url, STR("&type="));
    percent_encode(&url, p->type, "");
    add_label(&url, "namespace", p->namespace_name, &first);
    add_label(&url, "pod", p->pod, &first);
    return exchange(s, buf_str(&url), true, p->bytes, NULL, err);
}

bool collector_get(const struct session *s, const char *path, struct buf *out,
                   struct error *err)
{
    struct buf url = arena_buf(s->arena);

    add_base(&url, s->args->collector);
    buf_add(&url, str_from(path));
    return exchange(s, buf_str(&url), false, STR(""), out, err);
}
