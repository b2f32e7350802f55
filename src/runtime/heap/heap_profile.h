#ifndef RUNTIME_HEAP_HEAP_PROFILE_H
#define RUNTIME_HEAP_HEAP_PROFILE_H

#include "runtime/write/snapshot.h"

/*
 * The heap sampler's counts as profiles, scaled up from what was sampled.
 * Functions for profiles.c.
 *
 * `heap` and `allocs` have the same four values, in Go's order, and differ
 * only in the value that is shown first.  `peak` is what was in use when most
 * was (heap_peak.h).
 */
bool heap_take(struct snapshot *s, bool details, struct error *err);
bool heap_take_allocs(struct snapshot *s, bool details, struct error *err);
bool heap_take_peak(struct snapshot *s, bool details, struct error *err);
uint64_t heap_count_sites(void);

/* For the file of a whole run: the values of `heap`, and those of `peak`,
 * which are shown first. */
bool heap_take_run(struct snapshot *s, struct error *err);

/*
 * debug=1, in the form that pprof's legacy reader takes: sampled numbers as
 * they are, the rate in the head.
 */
bool heap_write_text(const struct snapshot *s, struct buf *out,
                     struct error *err);

/* The values of a record, in this order. */
enum {
    HEAP_ALLOC_OBJECTS,
    HEAP_ALLOC_SPACE,
    HEAP_INUSE_OBJECTS,
    HEAP_INUSE_SPACE,
    HEAP_PEAK_OBJECTS,
    HEAP_PEAK_SPACE,
};

#endif
