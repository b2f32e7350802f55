#ifndef PAGE_PAGE_H
#define PAGE_PAGE_H

#include "base/arena.h"
#include "base/error.h"
#include "http/access_key.h"
#include "http/server.h"
#include "profile/diff.h"
#include "report/config.h"

/*
 * The page: what `pprof -http` serves.
 *
 * A page holds profiles and answers requests about them; it knows nothing of
 * sockets.  Everything lives under /ui/: the shell (one HTML file, whatever
 * the view), its scripts and styles (files built into the program), and the
 * data that they ask for.  docs/page.md says what is asked and answered.
 *
 * Requests are handled by several threads at once: each works on a copy of
 * its profile, since reports filter in place.
 */
struct page;
struct objects; /* symbol/objects.h */

struct page_options {
    /* Every request starts from these options.  Texts outlive the page. */
    const struct report_config *config;
    struct str name; /* of the profile: what the user called it */

    /*
     * What the program does for the page; each may be NULL.  They are called
     * by the threads of the server, `fetch` by one at a time.
     */
    void *arg;
    /* Binaries for reports on code; memory from `a`. */
    const struct objects *(*objects)(void *arg, struct arena *a);
    /* The profile, and its base, anew from where they came. */
    bool (*fetch)(void *arg, struct profile_pair *out, struct error *err);
    /* The last steps with what is left when the base is taken off. */
    bool (*finish)(void *arg, struct profile *p, struct error *err);
    /* One of the sources that the profile is the sum of, by its number. */
    struct profile *(*load)(void *arg, size_t source, struct error *err);
    /* Symbols for a profile that was dropped onto the page. */
    bool (*adopt)(void *arg, struct profile *p, struct error *err);
    /* Words for whoever started the server. */
    void (*tell)(void *arg, const char *words);

    bool marks_base; /* its samples stay apart: -diff_base, not -base */

    const struct str *sources; /* names for `load` */
    size_t n_sources;

    const char *settings; /* the file of saved configurations; NULL: none */
    const char *web_dir;  /* take the page's files from there; NULL: built in */
    bool local_only;      /* answer clients of this machine only */
    bool certificates_only;       /* … only those with a client certificate */
    const struct access_key *key; /* all others must know it; NULL: none */
};

/* The page owns both profiles from now on.  A base is taken off for each
 * request, normalised or not as that one wishes. */
struct page *page_new(struct profile_pair profiles,
                      const struct page_options *options);
void page_free(struct page *page);

/* Makes the flame graph of a query ("f=main", "" for none) beforehand, in a
 * thread of its own: it is there when the browser asks.  At most once. */
void page_warm(struct page *page, struct str query);

/* Appends the page as one HTML file that needs no server (page/offline.h). */
bool page_write(struct page *page, struct buf *out, struct error *err);

/* The query that asks a page with default options for these: "?f=main", "?"
 * if they are the default.  From `a`. */
struct str page_query(struct arena *a, const struct report_config *config);

/* An http_handler; `page` is a struct page. */
void page_handle(struct http_exchange *x, void *page);

#endif
