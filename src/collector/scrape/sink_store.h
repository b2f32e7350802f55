#ifndef COLLECTOR_SCRAPE_SINK_STORE_H
#define COLLECTOR_SCRAPE_SINK_STORE_H

#include <stdatomic.h>

#include "collector/scrape/scraper.h"
#include "store/store.h"

/*
 * Puts what is scraped into a store: scraper_options.deliver is
 * sink_store_deliver, its `arg` a sink, which must live until the store is
 * closed.
 */
struct sink_store {
    struct store *store;
    atomic_ullong failed; /* accepted, and then not written */
};

enum scrape_reason sink_store_deliver(void *arg, const struct scraped *s,
                                      struct error *err);

/* The profile with only some of its sample types, appended to `out`.  False: it
 * is not a profile, or has none of these types. */
bool sink_keep_types(struct str bytes, const struct keys_sample_type *keep,
                     size_t n, struct buf *out, struct error *err);

#endif
