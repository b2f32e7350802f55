#ifndef PAGE_PAGE_H
#define PAGE_PAGE_H

#include "base/buf.h"
#include "http/server/server.h"
#include "page/page_options.h"
#include "page/page_source.h"

/*
 * The page: what `pprof -http` serves, and pprofd under /ui/.
 *
 * A page answers requests about the profiles of a page_source; it knows
 * nothing of sockets.  Everything lives under /ui/: the shell (one HTML file,
 * whatever the view), its scripts and styles (files built into the program),
 * and the data that they ask for.  docs/page.md describes both sides.
 *
 * Requests are handled by several threads at once: each works on a copy of
 * its profile, since reports filter in place.
 */
struct page;

/* page_free() releases the source. */
struct page *page_new(struct page_source source,
                      const struct page_options *options);
void page_free(struct page *page);

/* Makes the flame graph of a query ("f=main", "" for none) in advance, in a
 * thread of its own, so that it is ready when the browser requests it.  At most
 * once. */
void page_warm(struct page *page, struct str query);

/* Appends the page as one HTML file that needs no server (page/offline.h). */
bool page_write(struct page *page, struct buf *out, struct error *err);

/* The query that asks a page with default options for these: "?f=main", "?"
 * if they are the default.  From `a`. */
struct str page_query(struct arena *a, const struct report_config *config);

/* An http_admit and an http_handler; `page` is a struct page. */
enum http_admission page_admit(struct http_exchange *x, bool may_wait,
                               void *page);
void page_handle(struct http_exchange *x, void *page);

#endif
