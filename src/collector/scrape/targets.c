/*
 * The two routes: who may see what, and the headers.  What they show is made
 * in show_json.c and show_page.c.
 */
#include "collector/scrape/targets.h"

#include "collector/call.h"
#include "collector/context.h"
#include "collector/scrape/show.h"
#include "http/access/guard.h"

static bool may_see(void *call, struct str service)
{
    return guard_allows(&((struct call *)call)->x->identity, HTTP_MAY_READ,
                        service);
}

static struct scraper *scraper_of(struct call *c)
{
    struct scraper *s = c->collector->options.scraper;

    if (!s)
        call_fail(c, 404, "this collector does not scrape");
    return s;
}

void targets_json(void *request)
{
    struct call *c = request;
    struct scraper *s = scraper_of(c);

    if (!s)
        return;
    show_targets_json(s, &c->x->body, may_see, c);
    call_json(c);
}

void targets_page(void *request)
{
    struct call *c = request;
    struct scraper *s = scraper_of(c);

    if (!s)
        return;
    show_targets_page(s, &c->x->body, may_see, c);
    http_exchange_header(c->x, "Content-Type", STR("text/html; charset=utf-8"));
    http_exchange_header(c->x, "Content-Security-Policy",
                         STR("default-src 'none'; style-src 'unsafe-inline'"));
    http_exchange_header(c->x, "X-Content-Type-Options", STR("nosniff"));
}
