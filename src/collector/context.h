#ifndef COLLECTOR_CONTEXT_H
#define COLLECTOR_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "collector/api_metrics.h"
#include "store/store.h"

/*
 * What every request of the collector works with: the store, the limits and
 * the metrics.  Made by collector_init().
 */
struct scraper;
struct pieces;

struct collector_options {
    struct store *store;
    struct store_budget query; /* limits of one query; 0: none */
    size_t query_memory_bytes; /* for a report or a difference */
    size_t profile_bytes;      /* largest body of a POST */
    const char *version;
    bool has_no_clients;     /* exchanges come from no server */
    struct scraper *scraper; /* what /targets shows; NULL: nothing */
    /* Adds further metrics to /metrics; may be NULL. */
    void (*more_metrics)(void *arg, struct buf *out);
    void *arg;
};

struct collector {
    struct collector_options options;
    struct api_metrics metrics;
    struct pieces *pieces; /* of the overview */
};

#endif
