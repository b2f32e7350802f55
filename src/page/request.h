#ifndef PAGE_REQUEST_H
#define PAGE_REQUEST_H

#include <pthread.h>

#include "base/query.h"
#include "base/vec.h"
#include "http/access/guard.h"
#include "http/server/server.h"
#include "page/answers.h"
#include "page/page_options.h"
#include "page/page_source.h"
#include "report/report.h"

/*
 * The page's internal state, and a request that is being handled.
 */
struct page {
    struct page_options options;
    struct page_source source;
    struct guard *guard;
    struct answers answers;
    struct {
        pthread_t thread;
        bool is_started;
        char *query;
    } warming;                     /* see page_warm() */
    uint64_t seed;                 /* part of ETags: different for each run */
    pthread_mutex_t settings_lock; /* held while the file is changed */
};

struct page_request {
    struct page *page;
    struct http_exchange *x;
    struct arena *arena;
    struct str path; /* below /ui/ */
    VEC(struct query_word) words;
    struct report_config config;
    VEC(struct report_config) also; /* filters of words that are repeated */
    const struct objects *objects;  /* instead of the page's; NULL: its own */

    struct buf overview;  /* see page/list_page.h */
    struct str file_name; /* the profile's name, once it was taken */

    /* What the words a= and b= stand for; see query_resolve(). */
    bool is_resolved, is_compared;
    struct page_content a, b;
};

/* Splits a query into q->words. */
void query_parse(struct page_request *q, struct str query);

/* The first value of a word; "" if it is not there. */
struct str query_get(const struct page_request *q, const char *name);

/*
 * Asks the source what a=SELECTION and b=SELECTION stand for, and keeps it in
 * the request: all that is made for it is about the same content.  profile=
 * and base= are older names of the two words.
 */
bool query_resolve(struct page_request *q, struct error *err);

/* What an answer depends on: all parameters except selections, and the content
 * ids. "" if the selections cannot be resolved. */
struct str query_version(struct page_request *q);

/* A profile to report on, and what was merged into it. */
struct query_profile {
    struct profile *profile; /* belongs to the caller */
    bool is_trusted;         /* see struct page_content */
    struct page_side side;
    struct page_side base; /* what it is compared with; all zero: nothing */
};

/* Takes the profile that is selected; with a base it is the difference, the
 * base's samples marked as by -diff_base. */
bool query_take(struct page_request *q, struct query_profile *out,
                struct error *err);

/* Returns true if there is a base to normalise to. */
bool query_has_base(const struct page_request *q);

/*
 * q->config: the page's options and what the words say.  A filter that is
 * there twice (f=parse&f=json) narrows twice: q->also has the further ones.
 */
bool query_apply(struct page_request *q, struct error *err);

#endif
