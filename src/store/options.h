#ifndef STORE_OPTIONS_H
#define STORE_OPTIONS_H

#include "store/store.h"

/*
 * Options of a store.  Those for intake and retention apply to every engine;
 * the rest to the embedded one.
 */

/* Coarser copies of the data, for long ranges. */
enum store_level { STORE_RAW, STORE_MINUTE, STORE_HOUR, STORE_DAY };
enum { STORE_LEVELS = 4 };

/*
 * Retention rules.  The first rule whose service and type match a series
 * applies; an empty text matches every service or type. 0 keeps for ever.
 * store_options.levels chooses which sums are made.
 */
struct store_retention {
    struct str service, type;
    int64_t max_age_ns[STORE_LEVELS]; /* by created_at; 0: for ever */
    uint64_t max_bytes; /* of one service and type, oldest first; 0: any */
};

struct store_options {
    const char *dir; /* of the embedded engine; made if it does not exist */

    /* Intake. */
    size_t body_bytes;     /* of one put as it was sent */
    size_t inflated_bytes; /* after gunzip */
    size_t large_puts;     /* at a time, of over 2 MB inflated */
    size_t queue_profiles, queue_bytes;
    size_t commit_profiles; /* most profiles per commit */
    int64_t commit_wait_ns; /* a commit waits this long for more puts */

    /* Limits for one put; a larger one is STORE_TOO_LARGE. */
    size_t max_samples, max_depth, max_nodes, max_labels, max_label_bytes;
    /* Values per sample label key and open segment; above it the label is
     * dropped and counted. */
    uint32_t max_label_values;

    /* Sealing: when a service has this much, and over the memory budget the
     * largest first. */
    uint32_t seal_nodes, seal_profiles;
    int64_t seal_age_ns; /* since its first profile */
    size_t head_bytes;   /* memory of everything not yet sealed */
    size_t log_bytes;    /* of head.db's log */

    /* Background work. */
    bool no_background;        /* tests call sqlite_store_work() themselves */
    uint32_t compact_segments; /* join this many of a service and day */
    const struct store_retention *retention;
    size_t n_retention;
    uint64_t max_disk_bytes; /* of the whole store, oldest day first; 0: any */
    unsigned levels;         /* bit per store_level: which sums to make */
    int64_t (*now_ns)(void); /* the clock; NULL: the system's */
};

/* Defaults for everything but `dir`. */
extern const struct store_options store_default_options;

#endif
