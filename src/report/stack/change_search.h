#ifndef REPORT_STACK_CHANGE_SEARCH_H
#define REPORT_STACK_CHANGE_SEARCH_H

#include "report/stack/change.h"

/*
 * Where in the call tree a change happened.
 *
 * A place is a path from the root.  Starting with the whole program, the search
 * goes down as long as a place's callees changed differently from each other,
 * and stops where one statement describes the change:
 *
 *   - it is new or gone;
 *   - all below it changed in the same proportion, and no single callee
 *     carries the change;
 *   - its change is spread over callees too small to name.
 *
 * What is found does not overlap, so the changes can be added.
 */
struct changed_path {
    size_t from, to; /* the stacks that begin with this path */
    size_t depth;    /* of the path; 0 is the whole program */
    struct amounts amounts;
    bool own; /* only what the last function costs itself */
};

struct changed_paths {
    VEC(struct changed_path)
    found; /* those that grew, then those that shrank;
              the largest change first */
    size_t n_grew;
    struct amounts rest_grew, rest_shrank; /* what is too small to name */
};

/* Names changes of at least `least`, and beyond `noise` (the variance of a
 * value of 1; 0 for exact values). */
struct change_limits {
    double least;
    double noise;
};

void changed_paths_find(struct changed_paths *out, struct arena *a,
                        const struct report_stacks *t, size_t type,
                        struct change_limits limits);

#endif
