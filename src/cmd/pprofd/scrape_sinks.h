#ifndef CMD_PPROFD_SCRAPE_SINKS_H
#define CMD_PPROFD_SCRAPE_SINKS_H

#include "collector/scrape/scraper.h"
#include "fetch/http_fetch.h"

/*
 * Where `pprofd scrape` puts profiles: files in a directory, or another
 * collector.
 */

/* deliver for a directory; arg is its name. */
enum scrape_reason directory_deliver(void *arg, const struct scraped *s,
                                     struct error *err);

/*
 * Posts profiles to a collector with profefe's API, on a thread of its own: the
 * scraper must not wait for it.  A few profiles wait in a queue; when it is
 * full, the scraper waits, so memory stays bounded.
 */
struct poster;

/* `failed` is called on the poster's thread for each profile that could not
 * be posted. */
struct poster *poster_new(struct str collector,
                          const struct http_options *options,
                          scraper_failed *failed, void *arg, struct error *err);

/* Waits until everything is posted. */
void poster_free(struct poster *p);

/* deliver for a poster, which is the arg. */
enum scrape_reason poster_deliver(void *arg, const struct scraped *s,
                                  struct error *err);

#endif
