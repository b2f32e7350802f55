/*
 * Parameters are decoded anew for every look-up: a request has a handful, and
 * nothing has to be kept.  Errors drop whatever was written before them, so a
 * handler may fail at any point.
 */
#include "collector/call.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/gzip.h"
#include "base/query.h"
#include "collector/context.h"
#include "collector/go_json.h"
#include "collector/restriction.h"
#include "http/access/guard.h"
#include "profile/encode.h"

#define WORTH_GZIP 4096

struct str call_param(const struct call *c, struct str name)
{
    struct str rest = c->x->request->query;
    struct query_word word;

    while (query_next(c->arena, &rest, &word))
        if (str_eq(word.name, name))
            return word.value;
    return STR("");
}

bool call_may(struct call *c, unsigned scope, struct str service)
{
    if (guard_allows(&c->x->identity, scope, service))
        return true;
    call_fail(c, 403, "this client may not %s profiles of %" STR_FMT,
              scope == HTTP_MAY_WRITE ? "write" : "read", STR_ARG(service));
    return false;
}

bool call_restriction(const struct call *c, struct store_matcher *out)
{
    return restriction_of(&c->x->identity, c->arena, out);
}

void call_json(struct call *c)
{
    http_exchange_header(c->x, "Content-Type", STR("application/json"));
    c->is_json = true;
}

void call_pack(struct call *c)
{
    struct http_exchange *x = c->x;
    struct buf packed = BUF_INIT(x->body.max);
    struct error ignored;

    if (!c->is_json || x->status != 200 || x->body.len < WORTH_GZIP ||
        http_client_is_local(x->client))
        return;
    http_exchange_header(x, "Vary", STR("Accept-Encoding"));
    if (!http_header_lists(
            http_request_header(x->request, STR("Accept-Encoding")),
            STR("gzip")))
        return;
    if (!gzip_deflate(buf_str(&x->body), &packed, &ignored)) {
        buf_release(&packed);
        return;
    }
    buf_release(&x->body);
    x->body = packed;
    http_exchange_header(x, "Content-Encoding", STR("gzip"));
}

/* Opens {"code":…,"error":"…" and leaves the brace to the caller. */
static void begin_error(struct call *c, int status, struct str words)
{
    buf_clear(&c->x->body);
    buf_clear(&c->x->headers);
    c->x->status = status;
    http_exchange_header(c->x, "Content-Type",
                         STR("text/plain; charset=utf-8"));
    http_exchange_header(c->x, "X-Content-Type-Options", STR("nosniff"));
    http_exchange_header(c->x, "X-Go-Pprof", STR("1"));
    if (status == 503)
        http_exchange_header(c->x, "Retry-After", STR("1"));
    buf_addf(&c->x->body, "{\"code\":%d,\"error\":", status);
    go_json_string(&c->x->body, words);
}

void call_fail(struct call *c, int status, const char *fmt, ...)
{
    struct error words;
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(words.text, sizeof(words.text), fmt, ap);
    va_end(ap);
    begin_error(c, status, str_from(words.text));
    buf_add(&c->x->body, STR("}\n"));
}

static int http_status(enum store_status status)
{
    switch (status) {
    case STORE_OK:
        return 200;
    case STORE_INVALID:
        return 400;
    case STORE_NOT_FOUND:
        return 404;
    case STORE_TOO_LARGE:
        return 413;
    case STORE_LIMITED:
        return 422;
    case STORE_CANCELLED:
        return 499; /* for the metrics only: the client has gone */
    case STORE_BUSY:
        return 503;
    case STORE_FAILED:
        break;
    }
    return 500;
}

void call_fail_store(struct call *c, enum store_status status,
                     const struct store_progress *progress,
                     const struct error *err)
{
    if (status == STORE_NOT_FOUND) {
        call_fail(c, 404, "nothing found");
        return;
    }
    begin_error(c, http_status(status), str_from(err->text));
    if (status == STORE_LIMITED && progress)
        buf_addf(&c->x->body,
                 ",\"limit\":\"%s\",\"progress\":{\"profiles\":%" PRIu64
                 ",\"bytes\":%" PRIu64 ",\"cpu_seconds\":%.3f}",
                 progress->limit ? progress->limit : "", progress->profiles,
                 progress->bytes, (double)progress->cpu_ns / 1e9);
    buf_add(&c->x->body, STR("}\n"));
}

void call_attachment(struct call *c, struct str name)
{
    http_exchange_header(c->x, "Content-Type", STR("application/octet-stream"));
    http_exchange_header(
        c->x, "Content-Disposition",
        str_from(arena_printf(c->arena, "attachment; filename=\"%" STR_FMT "\"",
                              STR_ARG(name))));
}

void call_send_profile(struct call *c, struct profile *p, struct str name)
{
    struct error err;

    if (profile_encode_gzip_consume(p, &c->x->body, &err))
        call_attachment(c, name);
    else
        call_fail(c, 500, "%s", err.text);
    profile_free(p);
}

void call_defer(struct call *c, void (*release)(void *data), void *data)
{
    c->is_deferred = true;
    http_exchange_defer(
        c->x, &(struct http_deferral){.release = release, .data = data});
}

void call_count(const struct call *c)
{
    const struct http_request *r = c->x->request;
    uint64_t head = r->method.n + r->target.n + STR("HTTP/1.1").n;

    for (size_t i = 0; i < r->n_headers; i++)
        head += r->headers[i].name.n + r->headers[i].value.n;
    api_metrics_add(
        &c->collector->metrics,
        &(struct api_request){.method = r->method,
                              .path = c->path,
                              .code = c->x->status,
                              .duration_ns = clock_monotonic_ns() - c->began_ns,
                              .request_bytes = head + r->body.n,
                              .response_bytes = c->x->body.len});
}

void call_finish(struct call *c)
{
    call_count(c);
    http_exchange_finish(c->x);
}

static bool client_has_gone(void *arg)
{
    return !http_exchange_wait(arg, 0);
}

static bool is_too_late(void *arg)
{
    const struct call *c = arg;

    return clock_monotonic_ns() >= c->until_ns ||
           (!c->collector->options.has_no_clients && client_has_gone(c->x));
}

struct store_budget call_budget(const struct call *c)
{
    struct store_budget budget = c->collector->options.query;

    if (c->until_ns > 0) {
        budget.cancelled = is_too_late;
        budget.arg = (void *)c;
    } else if (!c->collector->options.has_no_clients) {
        budget.cancelled = client_has_gone;
        budget.arg = c->x;
    }
    return budget;
}
