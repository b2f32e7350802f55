/*
 * The life of a page: created, warmed up, serving requests, freed.  Requests go
 * to routes.c.
 */
#include "page/page.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory_scope.h"
#include "base/thread.h"
#include "page/data.h"
#include "page/list_page.h"
#include "page/offline.h"
#include "page/reply.h"
#include "page/request.h"
#include "page/routes.h"
#include "page/settings.h"

static struct guard *new_guard(const struct page_options *o)
{
    struct error err; /* nothing but memory can be missing */

    return guard_new(
        &(struct guard_options){
            .certificates = o->certificates_only,
            .key = o->key,
            .local_only = o->local_only,
            .host_hint = "the Host header is not this page's address: use the "
                         "URL that pprof printed",
            .may_navigate = true,
        },
        &err);
}

struct page *page_new(struct page_source source,
                      const struct page_options *options)
{
    struct page *page = calloc(1, sizeof(*page));

    assert(source.resolve && source.take);
    if (page)
        page->guard = new_guard(options);
    if (!page || !page->guard)
        abort(); /* as an arena does */
    page->source = source;
    page->options = *options;
    page->seed = hash_seed(page);
    pthread_mutex_init(&page->settings_lock, NULL);
    answers_init(&page->answers, ANSWERS_BYTES_MAX);
    return page;
}

static void *warm(void *arg)
{
    struct page *page = arg;
    struct page_request q = {.page = page, .arena = arena_new()};
    struct buf ignored = arena_buf(q.arena);
    struct error err; /* the request for it will report the error */

    query_parse(&q, str_from(page->warming.query));
    data_make_packed(&q, STR("flame"), &ignored, &err);
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
    guard_free(page->guard);
    answers_release(&page->answers);
    if (page->source.release)
        page->source.release(page->source.arg);
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

/* In its memory scope, where the arena must be made. */
static void handle(void *arg)
{
    struct page_request *q = arg;

    q->arena = arena_new();
    query_parse(q, q->x->request->query);
    route_request(q);
    arena_free(q->arena);
}

/* Drops what was prepared so far, and answers with the error. */
static void answer_failure(struct page_request *q, const struct error *err)
{
    q->arena = arena_new();
    buf_clear(&q->x->headers);
    if (str_has_prefix(q->path, STR("data/")))
        reply_json_failure(q, err);
    else
        reply_failure(q, err);
    arena_free(q->arena);
}

enum http_admission page_admit(struct http_exchange *x, bool may_wait,
                               void *arg)
{
    struct page *page = arg;

    return guard_admit(page->guard, x, may_wait);
}

void page_handle(struct http_exchange *x, void *arg)
{
    struct page *page = arg;
    struct page_request q = {.page = page, .x = x};
    size_t budget = page->options.request_bytes;
    struct error err;

    list_page_prepare(&q);
    if (!memory_scope_run(budget ? budget : MEMORY_UNLIMITED, handle, &q, &err))
        answer_failure(&q, &err);
    buf_release(&q.overview);
}
