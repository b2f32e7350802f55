#include "page/page.h"

#include <stdlib.h>

#include "base/hash.h"
#include "page/offline.h"
#include "page/request.h"
#include "page/routes.h"
#include "page/settings.h"

struct page *page_new(struct profile *p, const struct page_options *options)
{
    struct page *page = calloc(1, sizeof(*page));

    if (!page)
        abort(); /* as an arena does */
    page->options = *options;
    page->seed = hash_seed(page);
    profiles_init(&page->profiles, p, &page->options);
    pthread_mutex_init(&page->settings_lock, NULL);
    return page;
}

void page_free(struct page *page)
{
    if (!page)
        return;
    profiles_release(&page->profiles);
    pthread_mutex_destroy(&page->settings_lock);
    free(page);
}

bool page_write(struct page *page, struct buf *out, struct error *err)
{
    struct page_request q = {.page = page, .arena = arena_new()};
    bool ok = offline_write(&q, out, err);

    arena_free(q.arena);
    return ok;
}

struct str page_query(struct arena *a, const struct report_config *config)
{
    return settings_query(a, config);
}

void page_handle(struct http_exchange *x, void *arg)
{
    struct page_request q = {.page = arg, .x = x, .arena = arena_new()};

    query_parse(&q, x->request->query);
    route_request(&q);
    arena_free(q.arena);
}
