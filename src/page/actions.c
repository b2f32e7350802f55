/*
 * A table of requests that change something, and who does the work: the
 * source of profiles or the file of settings.
 */
#include "page/actions.h"

#include "http/server/host.h"
#include "page/json_fields.h"
#include "page/reply.h"
#include "page/settings.h"

static const struct str profiles_dir = STR_INIT("profiles/");

static bool not_here(struct error *err)
{
    return error_set(err, "this page does not support that");
}

static void add_id(struct page_request *q, struct str selection)
{
    struct json j = json_start(&q->x->body, 0);

    json_open(&j, '{');
    json_add_text(&j, "id", selection);
    json_close(&j, '}');
}

static bool add_profile(struct page_request *q, struct error *err)
{
    const struct page_source *s = &q->page->source;
    struct str selection;

    if (!s->add)
        return not_here(err);
    if (!s->add(s->arg, q->arena, query_get(q, "name"), q->x->request->body,
                &selection, err))
        return false;
    add_id(q, selection);
    return true;
}

static bool fetch_profile(struct page_request *q, struct error *err)
{
    const struct page_source *s = &q->page->source;
    struct str selection;

    if (!s->fetch)
        return error_set(err, "this profile cannot be fetched again");
    if (!s->fetch(s->arg, q->arena, &selection, err))
        return false;
    add_id(q, selection);
    return true;
}

static bool remove_profile(struct page_request *q, struct error *err)
{
    const struct page_source *s = &q->page->source;

    return s->remove ? s->remove(s->arg, str_skip(q->path, profiles_dir.n), err)
                     : not_here(err);
}

struct action {
    struct str method; /* "": any, since google/pprof takes GET for it */
    struct str path;
    bool has_id; /* behind the path */
    bool (*act)(struct page_request *q, struct error *err);
};

static const struct action actions[] = {
    {STR_INIT("POST"), STR_INIT("profiles"), false, add_profile},
    {STR_INIT("DELETE"), STR_INIT("profiles/"), true, remove_profile},
    {STR_INIT("POST"), STR_INIT("refetch"), false, fetch_profile},
    {STR_INIT(""), STR_INIT("saveconfig"), false, settings_save},
    {STR_INIT(""), STR_INIT("deleteconfig"), false, settings_delete},
};

static const struct action *find(const struct page_request *q)
{
    for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++) {
        const struct action *a = &actions[i];

        if ((a->method.n == 0 || str_eq(q->x->request->method, a->method)) &&
            (a->has_id ? str_has_prefix(q->path, a->path)
                       : str_eq(q->path, a->path)))
            return a;
    }
    return NULL;
}

bool action_answer(struct page_request *q)
{
    const struct action *a = find(q);
    struct error err;

    if (!a)
        return false;
    if (!http_is_own(q->x->request)) {
        reply_text(q, 403,
                   STR("only the page itself may send this request; programs "
                       "must send the header X-Pprof: 1"));
    } else if (!a->act(q, &err)) {
        reply_failure(q, &err);
    } else {
        http_exchange_header(q->x, "Cache-Control", STR("no-store"));
        reply_bytes(q, q->x->body.len > 0 ? STR("application/json")
                                          : STR("text/plain; charset=utf-8"));
    }
    return true;
}
