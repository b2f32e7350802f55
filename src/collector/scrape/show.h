#ifndef COLLECTOR_SCRAPE_SHOW_H
#define COLLECTOR_SCRAPE_SHOW_H

#include "base/buf.h"
#include "base/str.h"

/*
 * What a scraper knows about its targets, as JSON, as a page and as metrics.
 * `may_see` says whether the reader may see a service; NULL: all.
 */
struct scraper;

typedef bool show_may_see(void *arg, struct str service);

/* GET /api/1/targets */
void show_targets_json(struct scraper *s, struct buf *out,
                       show_may_see *may_see, void *arg);

/* GET /targets */
void show_targets_page(struct scraper *s, struct buf *out,
                       show_may_see *may_see, void *arg);

/* Appends to /metrics.  Only SHOW_METRIC_TARGETS targets have rows of their
 * own; the sums cover all. */
#define SHOW_METRIC_TARGETS 1000
void show_metrics(struct scraper *s, struct buf *out);

#endif
