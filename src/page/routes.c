/*
 * Everything that is read below /ui/: the shell, its files, the data that it
 * asks for.  What changes something is in actions.c.
 */
#include "page/routes.h"

#include "http/server/route.h"
#include "page/actions.h"
#include "page/data.h"
#include "page/download.h"
#include "page/list_page.h"
#include "page/offline.h"
#include "page/reply.h"

/* ---- views ---- */

/* A view and the data that it starts with. */
static const struct {
    const char *name, *data;
} views[] = {
    {"flamegraph", "flame"}, {"graph", "graph"},   {"top", "top"},
    {"peek", "peek"},        {"source", "source"}, {"disasm", "disasm"},
    {"tags", "tags"},        {"raw", "raw"},       {"traces", "traces"},
    {"diff", "diff"},        {"callers", "flame"},
};

/* "" if there is no such view. */
static struct str data_of_view(struct str path)
{
    for (size_t i = 0; i < sizeof(views) / sizeof(*views); i++)
        if (str_eq(path, str_from(views[i].name)))
            return str_from(views[i].data);
    return STR("");
}

/*
 * Lets the browser ask for the data while the script is still on its way.
 * Only where it is known to the letter what the script will ask for.
 */
static void announce_data(struct page_request *q, struct str data)
{
    struct str links = STR("<data/meta?>; rel=preload; as=fetch; crossorigin");

    if (q->x->request->query.n > 0)
        return;
    if (str_eq(data, STR("flame")))
        links = STR("<data/meta?>; rel=preload; as=fetch; crossorigin, "
                    "<data/flame?>; rel=preload; as=fetch; crossorigin");
    http_exchange_header(q->x, "Link", links);
}

/*
 * The shell.  A client that is no browser learns by the status whether the
 * report can be made; a browser would have it made twice, and learns it from
 * the data.
 */
static void answer_view(struct page_request *q, struct str data)
{
    struct buf made = arena_buf(q->arena);
    struct error err;

    if (request_wants_html(q)) {
        announce_data(q, data);
        reply_shell(q, query_apply(q, &err) ? 200 : 400);
        return;
    }
    made.max = q->x->body.max;
    if (data_make(q, data, &made, &err)) {
        reply_shell(q, 200);
    } else {
        reply_failure(q, &err);
    }
    buf_release(&made);
}

/* ---- data ---- */

/* Equal versions have equal answers until the server ends. */
static struct str tag_of(struct page_request *q, struct str name)
{
    uint64_t hash = str_hash_seeded(name, q->page->seed);

    hash = str_hash_seeded(query_version(q), hash);
    return str_from(
        arena_printf(q->arena, "W/\"%016llx\"", (unsigned long long)hash));
}

/* Returns true if the browser has it already. */
static bool is_known(const struct page_request *q, struct str tag)
{
    return http_header_lists(
        http_request_header(q->x->request, STR("If-None-Match")), tag);
}

static void answer_data(struct page_request *q, struct str name)
{
    bool constant = data_is_constant(name), packed = request_takes_gzip(q);
    struct str tag = constant ? tag_of(q, name) : STR("");
    struct error err;

    if (!data_exists(name)) {
        reply_json_error(q, 404, STR("there is no such data"));
        return;
    }
    if (constant && is_known(q, tag)) {
        http_exchange_header(q->x, "ETag", tag);
        q->x->status = 304;
        return;
    }
    if (packed ? !data_make_packed(q, name, &q->x->body, &err)
               : !data_make(q, name, &q->x->body, &err)) {
        reply_json_failure(q, &err);
        return;
    }
    if (constant)
        http_exchange_header(q->x, "ETag", tag);
    http_exchange_header(q->x, "Cache-Control",
                         constant ? STR("private, no-cache") : STR("no-store"));
    if (packed)
        reply_packed(q, data_type(name));
    else
        reply_body(q, data_type(name));
}

/* ---- files ---- */

static void answer_asset(struct page_request *q, struct str name)
{
    const struct asset *asset = asset_find(request_assets(q), name);
    bool built_in = !q->page->options.web_dir;

    if (!asset) {
        reply_text(q, 404, STR("404 page not found"));
        return;
    }
    if (built_in)
        http_exchange_header(q->x, "ETag", asset->etag);
    if (built_in && is_known(q, asset->etag))
        q->x->status = 304;
    else
        reply_asset(q, asset);
}

/* ---- everything ---- */

/* A collector's page starts with what there is to choose from. */
static void route_home(void *request)
{
    const struct page_request *q = request;

    reply_redirect(request, 301,
                   q->page->source.is_fleet ? "services" : "flamegraph");
}

static void route_flame(void *request)
{
    reply_redirect(request, 301, "flamegraph");
}

static void route_asset(void *request)
{
    struct page_request *q = request;

    answer_asset(q, str_skip(q->path, strlen("assets/")));
}

static void route_data(void *request)
{
    struct page_request *q = request;

    answer_data(q, str_skip(q->path, strlen("data/")));
}

static void route_download(void *request)
{
    download_answer(request);
}

static void route_offline(void *request)
{
    offline_answer(request);
}

/* A view that asks the collector's API for its data. */
static bool is_fleet_view(const struct page_request *q)
{
    static const struct str names[] = {
        STR_INIT("services"), STR_INIT("profiles"), STR_INIT("targets")};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (str_eq(q->path, names[i]))
            return q->page->source.is_fleet;
    return false;
}

/* A view, or nothing of ours. */
static void route_other(void *request)
{
    struct page_request *q = request;
    struct str data = data_of_view(q->path);

    if (is_fleet_view(q) && str_eq(q->path, STR("services")))
        list_page_answer(q);
    else if (is_fleet_view(q))
        reply_shell(q, 200);
    else if (data.n > 0)
        answer_view(q, data);
    else if (request_wants_html(q))
        reply_shell(q, 404);
    else
        reply_text(q, 404, STR("404 page not found"));
}

/* What is below /ui/ and only read; actions.c has the rest. */
static const struct http_route routes[] = {
    {"GET", "", route_home},
    {"GET", "flamegraph2", route_flame},
    {"GET", "flamegraphold", route_flame},
    {"GET", "assets/*", route_asset},
    {"GET", "data/*", route_data},
    {"GET", "download", route_download},
    {"GET", "offline", route_offline},
    {"GET", "*", route_other},
};

static void answer(struct page_request *q)
{
    struct http_match match;

    if (http_routes_find(HTTP_ROUTES(routes), q->x->request->method, q->path,
                         &match) == HTTP_ROUTE_FOUND) {
        match.route->handle(q);
        return;
    }
    http_exchange_header(q->x, "Allow", STR("GET, HEAD"));
    reply_text(q, 405, STR("only GET and HEAD are allowed here"));
}

void route_request(struct page_request *q)
{
    const struct str root = STR("/ui/");
    struct str path = q->x->request->path;

    if (str_eq(path, STR("/ui"))) {
        reply_redirect(q, 307, "/ui/");
    } else if (!str_has_prefix(path, root)) {
        reply_redirect(q, 307, "/ui");
    } else {
        q->path = str_skip(path, root.n);
        if (!action_answer(q))
            answer(q);
    }
}
