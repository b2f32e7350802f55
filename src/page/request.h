#ifndef PAGE_REQUEST_H
#define PAGE_REQUEST_H

#include <pthread.h>

#include "base/query.h"
#include "base/vec.h"
#include "page/page.h"
#include "report/report.h"

/*
 * Inside the page: its profiles, and a request under way.
 */
struct page_profile {
    uint32_t id;
    char *name;
    struct profile *profile;
};

struct page {
    struct page_options options;
    pthread_rwlock_t lock; /* of the profiles: requests read */
    struct page_profile *profiles;
    size_t n_profiles;
    pthread_mutex_t settings_lock; /* held while the file is changed */
};

struct page_request {
    struct page *page;
    struct http_exchange *x;
    struct arena *arena;
    struct str path; /* below /ui/ */
    VEC(struct query_word) words;
    struct report_config config;
};

/* Splits a query into q->words. */
void query_parse(struct page_request *q, struct str query);

/* The first value of a word; "" if it is not there. */
struct str query_get(const struct page_request *q, const char *name);

/* q->config: the page's options and what the words say. */
bool query_apply(struct page_request *q, struct error *err);

/*
 * A copy of the profile that the words name (profile=ID, base=ID), for the
 * caller to use up and free.  With a base, samples of that are negated and
 * marked as -diff_base marks them.
 */
struct profile *page_take_profile(struct page_request *q, struct error *err);

#endif
