/*
 * The table of routes, and what stands around every call: its arena, its
 * redirects, the answers for paths and methods that do not exist, and its
 * place in the metrics.
 */
#include "collector/collector.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/json.h"
#include "collector/call.h"
#include "collector/intake/profefe_store.h"
#include "collector/query/names.h"
#include "collector/query/overview.h"
#include "collector/query/pieces.h"
#include "collector/query/profefe_query.h"
#include "collector/query/profiles.h"
#include "collector/query/series.h"
#include "collector/scrape/show.h"
#include "collector/scrape/targets.h"
#include "collector/store_metrics.h"

#define NO_BODY 4096 /* of requests that need none */

static void write_metrics(void *request)
{
    struct call *c = request;
    const struct collector_options *o = &c->collector->options;

    api_metrics_write(&c->collector->metrics, &c->x->body);
    store_metrics_write(o->store, &c->x->body);
    if (o->scraper)
        show_metrics(o->scraper, &c->x->body);
    if (o->more_metrics)
        o->more_metrics(o->arg, &c->x->body);
    http_exchange_header(c->x, "Content-Type",
                         STR("text/plain; version=0.0.4; charset=utf-8"));
}

static void list_routes(void *request);

static const struct http_route routes[] = {
    {"GET", "/api/0/profiles", profefe_list, HTTP_MAY_READ, NO_BODY},
    {"GET", "/api/0/profiles/", profefe_list, HTTP_MAY_READ, NO_BODY},
    {"POST", "/api/0/profiles", profefe_store, HTTP_MAY_WRITE, 0},
    {"POST", "/api/0/profiles/", profefe_store, HTTP_MAY_WRITE, 0},
    {"GET, POST", "/api/0/profiles/merge", profefe_merge, HTTP_MAY_READ,
     NO_BODY},
    {"GET, POST", "/api/0/profiles/merge/", profefe_merge, HTTP_MAY_READ,
     NO_BODY},
    {"GET", "/api/0/profiles/*", profefe_get, HTTP_MAY_READ, NO_BODY},
    {"GET", "/api/0/services", profefe_services, HTTP_MAY_READ, NO_BODY},
    {"GET", "/api/0/version", profefe_version, HTTP_MAY_READ, NO_BODY},
    {"GET", "/api/1/", list_routes, HTTP_MAY_READ, NO_BODY},
    {"GET", "/api/1/diff", query_diff, HTTP_MAY_READ, NO_BODY},
    {"GET", "/api/1/function", query_function, HTTP_MAY_READ, NO_BODY},
    {"GET", "/api/1/labels", query_labels, HTTP_MAY_READ, NO_BODY},
    {"GET", "/api/1/merge", query_merge, HTTP_MAY_READ, NO_BODY},
    {"GET", "/api/1/overview", query_overview, HTTP_MAY_READ, NO_BODY},
    {"GET", "/api/1/profiles", query_profiles, HTTP_MAY_READ, NO_BODY},
    {"GET", "/api/1/series", query_series, HTTP_MAY_READ, NO_BODY},
    {"GET", "/api/1/services", query_services, HTTP_MAY_READ, NO_BODY},
    {"GET", "/api/1/targets", targets_json, HTTP_MAY_READ, NO_BODY},
    {"GET", "/api/1/top", query_top, HTTP_MAY_READ, NO_BODY},
    {"GET", "/debug/metrics", write_metrics, HTTP_MAY_READ, NO_BODY},
    {"GET", "/metrics", write_metrics, HTTP_MAY_READ, NO_BODY},
    {"GET", "/targets", targets_page, HTTP_MAY_READ, NO_BODY},
};

/* What this server can be asked: pages hide what it does not know. */
static void list_routes(void *request)
{
    struct call *c = request;
    struct json j = json_start(&c->x->body, 0);

    json_open(&j, '{');
    json_key(&j, STR("routes"));
    json_open(&j, '[');
    for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++)
        if (str_has_prefix(str_from(routes[i].path), STR("/api/1/")))
            json_string(&j, str_from(routes[i].path));
    json_close(&j, ']');
    json_close(&j, '}');
    buf_add_char(j.out, '\n');
    call_json(c);
}

void collector_init(struct collector *c,
                    const struct collector_options *options)
{
    c->options = *options;
    api_metrics_init(&c->metrics);
    c->pieces = pieces_new();
}

void collector_release(struct collector *c)
{
    pieces_free(c->pieces);
    api_metrics_release(&c->metrics);
}

bool collector_knows(struct str path)
{
    return str_has_prefix(path, STR("/api/")) || str_eq(path, STR("/api")) ||
           str_eq(path, STR("/metrics")) ||
           str_eq(path, STR("/debug/metrics")) || str_eq(path, STR("/targets"));
}

unsigned collector_admit(const struct collector *c, struct http_exchange *x)
{
    struct http_match match;

    if (http_routes_find(HTTP_ROUTES(routes), x->request->method,
                         x->request->path, &match) != HTTP_ROUTE_FOUND) {
        x->max_body = NO_BODY;
        return HTTP_MAY_READ;
    }
    x->max_body = match.route->max_body ? match.route->max_body
                                        : c->options.profile_bytes;
    return match.route->scope;
}

/* The name of a route in the metrics: as profefe writes it. */
static const char *metric_path(const struct http_route *route)
{
    if (route->handle == profefe_get)
        return "/api/0/profiles/__pid__";
    if (route->handle == profefe_list || route->handle == profefe_store)
        return "/api/0/profiles";
    if (route->handle == profefe_merge)
        return "/api/0/profiles/merge";
    return route->path;
}

/* --- paths that are not in the table -------------------------------------- */

/* "/a//b/./c/../d" -> "/a/b/d"; a slash at the end stays. */
static struct str clean_path(struct arena *a, struct str path)
{
    char *out = arena_alloc(a, path.n + 2);
    struct str rest = path, part;
    size_t n = 0;

    while (str_split(&rest, '/', &part)) {
        if (part.n == 0 || str_eq(part, STR(".")))
            continue;
        if (str_eq(part, STR(".."))) {
            while (n > 0 && out[--n] != '/')
                ;
            continue;
        }
        out[n++] = '/';
        memcpy(out + n, part.s, part.n);
        n += part.n;
    }
    if (n == 0 || path.s[path.n - 1] == '/')
        out[n++] = '/';
    return str_of(out, n);
}

static void redirect(struct call *c, struct str path)
{
    struct str query = c->x->request->query;

    c->x->status = 301;
    http_exchange_header(c->x, "Location",
                         str_from(arena_printf(
                             c->arena, "%" STR_FMT "%s%" STR_FMT, STR_ARG(path),
                             query.n ? "?" : "", STR_ARG(query))));
}

static void answer_no_path(struct call *c)
{
    struct str path = c->x->request->path;

    if (str_has_prefix(path, STR("/api/1")))
        call_fail(c, 404,
                  "there is no %" STR_FMT "; docs/collector-api.md lists what "
                  "there is",
                  STR_ARG(path));
    else
        call_fail(c, 404, "nothing found");
}

static void answer_no_method(struct call *c)
{
    struct buf allowed = arena_buf(c->arena);

    http_routes_allow(HTTP_ROUTES(routes), c->x->request->path, &allowed);
    call_fail(c, 405, "%" STR_FMT " is not allowed here; use %s",
              STR_ARG(c->x->request->method), buf_cstr(&allowed));
    http_exchange_header(c->x, "Allow", buf_str(&allowed));
}

/* --- every call ----------------------------------------------------------- */

static void dispatch(struct call *c)
{
    const struct http_request *r = c->x->request;
    struct str clean = clean_path(c->arena, r->path);
    struct http_match match;

    if (!str_eq(clean, r->path)) {
        redirect(c, clean);
        return;
    }
    if (str_eq(r->path, STR("/api/0"))) {
        redirect(c, STR("/api/0/"));
        return;
    }
    switch (http_routes_find(HTTP_ROUTES(routes), r->method, r->path, &match)) {
    case HTTP_ROUTE_NO_PATH:
        answer_no_path(c);
        return;
    case HTTP_ROUTE_NO_METHOD:
        answer_no_method(c);
        return;
    case HTTP_ROUTE_FOUND:
        break;
    }
    c->path = metric_path(match.route);
    c->rest = match.rest;
    match.route->handle(c);
}

static void handle(struct collector *collector, struct http_exchange *x,
                   int64_t until_ns)
{
    struct call c = {.collector = collector,
                     .x = x,
                     .path = "other",
                     .arena = arena_new(),
                     .now_ns = clock_realtime_ns(),
                     .began_ns = clock_monotonic_ns(),
                     .until_ns = until_ns};

    dispatch(&c);
    /* A deferred call is counted and freed when it is finished. */
    if (c.is_deferred)
        return;
    call_pack(&c);
    call_count(&c);
    arena_free(c.arena);
}

void collector_handle(struct collector *c, struct http_exchange *x)
{
    handle(c, x, 0);
}

bool collector_overview(struct collector *c, struct http_exchange *x,
                        int64_t wait_ns, struct buf *out)
{
    const struct str path = STR("/api/1/overview");
    const struct http_request plain = {
        .method = STR("GET"), .target = path, .path = path};
    const struct http_request *request = x->request;
    size_t max = x->body.max;
    bool ok;

    x->request = &plain;
    x->body.max = out->max - out->len;
    handle(c, x, clock_monotonic_ns() + wait_ns);
    ok = x->status == 200 && buf_ok(&x->body);
    if (ok)
        buf_add(out, buf_str(&x->body));
    x->request = request;
    x->status = 200;
    buf_clear(&x->headers);
    buf_clear(&x->body);
    x->body.max = max;
    return ok;
}
