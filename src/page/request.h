#ifndef PAGE_REQUEST_H
#define PAGE_REQUEST_H

#include <pthread.h>

#include "base/query.h"
#include "base/vec.h"
#include "page/answers.h"
#include "page/page.h"
#include "page/profiles.h"
#include "report/report.h"

/*
 * Inside the page: what it is made of, and a request under way.
 */
struct page {
    struct page_options options;
    struct profiles profiles;
    struct answers answers;
    struct {
        pthread_t thread;
        bool is_started;
        char *query;
    } warming;     /* see page_warm() */
    uint64_t seed; /* of the tags of answers: another one for each run */
    pthread_mutex_t settings_lock; /* held while the file is changed */
};

struct page_request {
    struct page *page;
    struct http_exchange *x;
    struct arena *arena;
    struct str path; /* below /ui/ */
    VEC(struct query_word) words;
    struct report_config config;
    const struct objects *objects; /* instead of the page's; NULL: its own */
};

/* Splits a query into q->words. */
void query_parse(struct page_request *q, struct str query);

/* The first value of a word; "" if it is not there. */
struct str query_get(const struct page_request *q, const char *name);

/* Copies the profile that the words name (profile=ID, base=ID), for the
 * caller to use up and free; see profiles_take(). */
struct profile *query_take_profile(const struct page_request *q,
                                   bool *is_trusted, struct error *err);

/* Do they name a base, or does the command line? */
bool query_has_base(const struct page_request *q);

/* q->config: the page's options and what the words say. */
bool query_apply(struct page_request *q, struct error *err);

#endif
