#ifndef PAGE_PAGE_SOURCE_H
#define PAGE_PAGE_SOURCE_H

#include "base/arena.h"
#include "base/error.h"
#include "http/server/exchange.h"
#include "profile/profile.h"

/*
 * Where a page gets its profiles from: the files of a command line
 * (page/file_source.h), or the store of a collector.
 *
 * A request names profiles by selections, texts that only the source
 * understands: a=SELECTION is shown, b=SELECTION is its base.  The page works
 * in two steps:
 *
 *   1. resolve() determines what a selection stands for at this moment.  It
 *      runs for every request, before any cache is asked, and must be quick.
 *   2. take() makes the profile of a resolved selection.  It runs only if there
 *      is no cached answer.
 *
 * The id from step 1 is part of cache keys and ETags.  Equal ids must stand
 * for equal profiles until the process ends.  "The last hour" resolves to
 * another id whenever its profiles change, so its answers are never stale; a
 * fixed range keeps its id, so its answers are computed once.
 *
 * Both get the request for which they are called: a source can restrict
 * profiles to some clients, and can stop when the client has disconnected.  It
 * is NULL when the program itself asks.
 *
 * All functions are called by several threads at the same time.
 */
#define PAGE_SELECTION_MAX 4096 /* bytes; longer ones are refused */

/* What a selection stands for.  Texts come from the arena of resolve(). */
struct page_content {
    struct str selection; /* canonical form of the text that was asked for */
    struct str id;        /* any bytes; another id for another content */
    bool has_base;        /* take() subtracts a base of its own */
    bool is_trusted;      /* its file names are trusted: sources and binaries
                             may be opened */
};

/* How the profile will be used. */
struct page_take_options {
    bool is_compared; /* it is one of two: a base of its own that would be
                         shown as a comparison is left out */
    bool normalize;   /* scale it to the totals of its own base */
};

/* A profile before it is merged with others, for a headline. */
struct page_side {
    struct str name;     /* what people call it: "heap.pb.gz" */
    int64_t time_ns;     /* start, 0 if not known */
    int64_t duration_ns; /* 0 if not known */
};

struct page_taken {
    struct profile *profile; /* belongs to the caller */
    struct page_side side;   /* texts come from the arena of take() */
    struct page_side base;   /* of its own base; all zero if there is none */
};

/* One of the profiles that can be chosen from a list. */
struct page_listed {
    struct str selection;
    struct str name;
    bool is_added; /* by the user of the page, who can remove it */
};

typedef void page_list_visitor(void *to, const struct page_listed *profile);

struct page_source {
    void *arg; /* the first argument of every function */

    /* "" is what the page shows first.  False: there is no such profile. */
    bool (*resolve)(void *arg, struct arena *a, struct http_exchange *x,
                    struct str selection, struct page_content *out,
                    struct error *err);

    /* Makes what resolve() found.  False: it failed, or the content is gone
     * by now. */
    bool (*take)(void *arg, struct arena *a, struct http_exchange *x,
                 const struct page_content *content,
                 struct page_take_options how, struct page_taken *out,
                 struct error *err);

    /* The rest may be NULL: the page then does not offer it. */

    /* Calls visit(to, …) for each profile of a short list. */
    void (*list)(void *arg, page_list_visitor *visit, void *to);

    /* Adds the bytes of a profile file; *selection comes from `a`. */
    bool (*add)(void *arg, struct arena *a, struct str name, struct str bytes,
                struct str *selection, struct error *err);

    /* Fetches the first profile again and adds the result. */
    bool (*fetch)(void *arg, struct arena *a, struct str *selection,
                  struct error *err);

    /* Removes a profile that was added. */
    bool (*remove)(void *arg, struct str selection, struct error *err);

    void (*release)(void *arg); /* called by page_free() */

    /* The server also answers the collector's queries under /api/1/: the page
     * shows services, time ranges and labels to choose from. */
    bool is_fleet;
};

#endif
