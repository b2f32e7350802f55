/*
 * Addresses are asked for by GET, as a query, as far as they fit into a few
 * requests: a rule that lets somebody read profiles often allows nothing
 * else (RBAC's "get").  They are sent by POST, as google/pprof does it, where
 * there are more, and where GET gave nothing.
 */
#include "cmd/pprof/symbol_service.h"

#include "fetch/http_fetch.h"

/* How long to wait for names: the profile itself is already there. */
#define ANSWER_NS ((int64_t)15 * 1000000000)

enum {
    GET_BYTES = 4000,      /* of addresses in a URL */
    GET_ALL_BYTES = 64000, /* more go by POST first */
};

static bool ask_once(const struct http_options *options,
                     const struct symbolize_source *source, struct str url,
                     const struct str *body, struct buf *reply,
                     struct error *err)
{
    struct http_options http = *options;
    struct http_reply answer;
    bool ok;

    http.login = source->login;
    http.timeout_ns = ANSWER_NS;
    http.note = NULL; /* all was said when the profile was fetched */
    if (!http_fetch(url, body != NULL, body ? *body : STR(""), &http, &answer,
                    err))
        return false;
    ok = answer.status == 200;
    if (ok)
        buf_add(reply, buf_str(&answer.body));
    else
        http_error_words(&answer, err);
    buf_release(&answer.body);
    return ok ||
           error_wrap(err, "%s %" STR_FMT, body ? "Post" : "Get", STR_ARG(url));
}

/* As many whole addresses as fit into a URL, off the front. */
static struct str take_addresses(struct str *rest)
{
    struct str first = str_first(*rest, GET_BYTES);
    ptrdiff_t plus = str_rfind_char(first, '+');

    if (first.n < rest->n && plus > 0)
        first = str_first(first, (size_t)plus);
    *rest = str_skip(*rest, first.n + (first.n < rest->n));
    return first;
}

static bool ask_by_get(const struct http_options *options,
                       const struct symbolize_source *source, struct str url,
                       struct str addresses, struct buf *reply,
                       struct error *err)
{
    while (addresses.n) {
        struct str some = take_addresses(&addresses);
        struct buf query = BUF_INIT(BUF_OF_TOOL);
        bool ok;

        buf_addf(&query, "%" STR_FMT "?%" STR_FMT, STR_ARG(url), STR_ARG(some));
        ok = ask_once(options, source, buf_str(&query), NULL, reply, err);
        buf_release(&query);
        if (!ok)
            return false;
    }
    return str_contains(buf_str(reply), STR("\n0x")) ||
           str_has_prefix(buf_str(reply), STR("0x")) ||
           error_set(err, "Get %" STR_FMT ": no symbols in the reply",
                     STR_ARG(url));
}

bool symbol_service_ask(void *arg, const struct symbolize_source *source,
                        struct str url, struct str addresses, struct buf *reply,
                        struct error *err)
{
    const struct http_options *options = arg;
    bool few = addresses.n <= GET_ALL_BYTES;
    struct error ignored;

    if (few && ask_by_get(options, source, url, addresses, reply, &ignored))
        return true;
    buf_clear(reply);
    if (ask_once(options, source, url, &addresses, reply, err))
        return true;
    return !few && ask_by_get(options, source, url, addresses, reply, &ignored);
}
