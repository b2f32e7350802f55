#include "page/page.h"

#include <stdlib.h>

#include "page/request.h"
#include "page/routes.h"

struct page *page_new(struct profile *p, const struct page_options *options)
{
    struct page *page = calloc(1, sizeof(*page));

    if (!page || !(page->profiles = calloc(1, sizeof(*page->profiles))))
        abort();
    page->options = *options;
    pthread_rwlock_init(&page->lock, NULL);
    pthread_mutex_init(&page->settings_lock, NULL);
    page->profiles[0] = (struct page_profile){
        .id = 1,
        .name =
            strndup(options->name.n ? options->name.s : "", options->name.n),
        .profile = p};
    page->n_profiles = 1;
    return page;
}

void page_free(struct page *page)
{
    if (!page)
        return;
    for (size_t i = 0; i < page->n_profiles; i++) {
        free(page->profiles[i].name);
        profile_free(page->profiles[i].profile);
    }
    free(page->profiles);
    pthread_mutex_destroy(&page->settings_lock);
    pthread_rwlock_destroy(&page->lock);
    free(page);
}

static const struct page_profile *find(const struct page *page, struct str id)
{
    uint64_t number = 0;

    if (id.n == 0)
        return &page->profiles[0];
    if (!str_to_u64(id, 10, &number))
        return NULL;
    for (size_t i = 0; i < page->n_profiles; i++)
        if (page->profiles[i].id == number)
            return &page->profiles[i];
    return NULL;
}

struct profile *page_take_profile(struct page_request *q, struct error *err)
{
    struct page *page = q->page;
    struct str id = query_get(q, "profile");
    const struct page_profile *found;
    struct profile *copy = NULL;

    pthread_rwlock_rdlock(&page->lock);
    found = find(page, id);
    if (found)
        copy = profile_copy(found->profile);
    pthread_rwlock_unlock(&page->lock);
    if (!copy)
        error_set(err, "there is no profile %" STR_FMT, STR_ARG(id));
    return copy;
}

void page_handle(struct http_exchange *x, void *arg)
{
    struct page_request q = {.page = arg, .x = x, .arena = arena_new()};

    query_parse(&q, x->request->query);
    route_request(&q);
    arena_free(q.arena);
}
