#include "page/page.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/thread.h"
#include "page/data.h"
#include "page/offline.h"
#include "page/request.h"
#include "page/routes.h"
#include "page/settings.h"

struct page *page_new(struct profile_pair profiles,
                      const struct page_options *options)
{
    struct page *page = calloc(1, sizeof(*page));

    if (!page)
        abort(); /* as an arena does */
    page->options = *options;
    page->seed = hash_seed(page);
    profiles_init(&page->profiles, profiles, &page->options);
    pthread_mutex_init(&page->settings_lock, NULL);
    answers_init(&page->answers, ANSWERS_BYTES_MAX);
    return page;
}

static void *warm(void *arg)
{
    struct page *page = arg;
    struct page_request q = {.page = page, .arena = arena_new()};
    struct buf ignored = BUF_INIT(BUF_NO_LIMIT);
    struct str query = str_from(page->warming.query);
    struct error err; /* whoever asks for it will hear it */

    query_parse(&q, query);
    data_make_packed(&q, STR("flame"), query, &ignored, &err);
    buf_release(&ignored);
    arena_free(q.arena);
    return NULL;
}

void page_warm(struct page *page, struct str query)
{
    page->warming.query = strndup(query.s ? query.s : "", query.n);
    page->warming.is_started =
        page->warming.query &&
        thread_start(&page->warming.thread, "warm", 0, warm, page) == 0;
}

void page_free(struct page *page)
{
    if (!page)
        return;
    if (page->warming.is_started)
        pthread_join(page->warming.thread, NULL);
    free(page->warming.query);
    answers_release(&page->answers);
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
