#ifndef RUNTIME_HEAP_PROFILE_H
#define RUNTIME_HEAP_PROFILE_H

#include "runtime/profiles.h"

/*
 * The heap sampler's counts as the profiles `heap` and `allocs`: the same
 * four values, in Go's order, scaled up from what was sampled; they differ
 * only in the value that is shown first.  Functions for profiles.c.
 */
bool heap_take(struct snapshot *s, bool details, struct error *err);
bool heap_take_allocs(struct snapshot *s, bool details, struct error *err);
uint64_t heap_count_sites(void);

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
    HEAP_INUSE_SPACE
};

#endif
