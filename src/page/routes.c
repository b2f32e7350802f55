#include "page/routes.h"

#include "page/assets.h"
#include "page/data.h"
#include "page/reply.h"

#define ASSETS STR("assets/")
#define DATA   STR("data/")

/* ---- data ---- */

struct data_route {
    const char *name;
    enum report_format format;
    report_body *body;
    struct str type;
    void (*adjust)(struct report_config *c);
};

#define JSON_TYPE   STR_INIT("application/json")
#define BINARY_TYPE STR_INIT("application/octet-stream")

/* Names alone would make one function of many with the same name. */
static void adjust_flame(struct report_config *c)
{
    c->trim = false;
    if (c->granularity.n == 0)
        c->granularity = STR("filefunctions");
}

static const struct data_route data_routes[] = {
    {"flame", REPORT_FLAME, data_flame, BINARY_TYPE, adjust_flame},
    {"top", REPORT_TEXT, data_top, JSON_TYPE, NULL},
};

static bool make_data(struct page_request *q, const struct data_route *route,
                      struct error *err)
{
    struct buf warnings = BUF_INIT(BUF_NO_LIMIT);
    struct report_request request = {
        .format = route->format, .body = route->body, .config = &q->config};
    struct profile *p = page_take_profile(q, err);
    bool ok;

    if (!p)
        return false;
    if (route->adjust)
        route->adjust(&q->config);
    ok = report_write(p, &request, &q->x->body, &warnings, err);
    buf_release(&warnings);
    profile_free(p);
    return ok;
}

static void answer_data(struct page_request *q, struct str name)
{
    const struct data_route *route = NULL;
    struct str type = STR("application/json");
    struct error err;
    bool ok;

    for (size_t i = 0; i < sizeof(data_routes) / sizeof(*data_routes); i++)
        if (str_eq(name, str_from(data_routes[i].name)))
            route = &data_routes[i];
    if (!route && !str_eq(name, STR("meta"))) {
        reply_json_error(q, 404, STR("there is no such data"));
        return;
    }
    ok = query_apply(q, &err) &&
         (route ? make_data(q, route, &err) : data_meta(q, &err));
    if (!ok) {
        reply_json_error(q, 400, str_from(err.text));
        return;
    }
    http_exchange_header(q->x, "Cache-Control", STR("no-store"));
    reply_body(q, route ? route->type : type);
}

/* ---- files ---- */

static void answer_asset(struct page_request *q, struct str name)
{
    const struct asset *asset = asset_find(name);
    const char *dir = q->page->options.web_dir;
    struct str known = http_request_header(q->x->request, STR("If-None-Match"));
    struct error err;

    if (!asset) {
        reply_text(q, 404, STR("404 page not found"));
        return;
    }
    if (!dir)
        http_exchange_header(q->x, "ETag", asset->etag);
    http_exchange_header(q->x, "Cache-Control", STR("no-cache"));
    if (!dir && header_lists(known, asset->etag)) {
        q->x->status = 304;
        return;
    }
    if (!asset_read(asset, dir, &q->x->body, &err)) {
        reply_text(q, 500, str_from(err.text));
        return;
    }
    reply_body(q, asset->type);
}

/* ---- everything ---- */

static const char *const views[] = {
    "flamegraph", "graph", "top", "peek",   "source",
    "disasm",     "tags",  "raw", "traces", "diff",
};

static bool is_view(struct str path)
{
    for (size_t i = 0; i < sizeof(views) / sizeof(*views); i++)
        if (str_eq(path, str_from(views[i])))
            return true;
    return false;
}

static void answer(struct page_request *q)
{
    struct str path = q->path;

    if (path.n == 0 || str_eq(path, STR("flamegraph2")) ||
        str_eq(path, STR("flamegraphold")))
        reply_redirect(q, 301, "flamegraph");
    else if (str_has_prefix(path, ASSETS))
        answer_asset(q, str_skip(path, ASSETS.n));
    else if (str_has_prefix(path, DATA))
        answer_data(q, str_skip(path, DATA.n));
    else if (is_view(path))
        reply_shell(q, 200);
    else if (request_wants_html(q))
        reply_shell(q, 404);
    else
        reply_text(q, 404, STR("404 page not found"));
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
        answer(q);
    }
}
