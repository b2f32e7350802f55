#ifndef STORE_COMMENTS_H
#define STORE_COMMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "store/table.h"

/*
 * The comments of a merged profile.
 *
 * A merge has every distinct comment of its profiles, as with google/pprof,
 * as long as these are few.  Comments that contain figures of one profile
 * ("cpu time of the process: 1878809297 ns") are different in each; a merge of
 * ten thousand profiles then has only the comments that all of them share.
 *
 * They stand in the order of time, whatever the order in which profiles come.
 *
 * Zero is the empty set.  Memory is bounded by the limit and by the comments of
 * the first profile.
 */
struct comment {
    struct str text;
    int64_t time_ns; /* of the oldest profile that has it; 0: not known */
    uint32_t position;
};

struct comments {
    struct table texts;
    uint32_t *profiles;  /* how many had it, by text */
    uint32_t *last;      /* number of the last profile that had it, by text */
    struct comment *all; /* by text */
    size_t profiles_cap, last_cap, all_cap;
    uint32_t n_profiles, position; /* of the next one in its profile */
    int64_t time_ns;               /* of the profile */
    bool too_many;                 /* some were not added */
};

#define COMMENTS_MAX 16 /* distinct ones that are all kept */

void comments_release(struct comments *c);

/* The following comments are of another profile. */
void comments_next_profile(struct comments *c, int64_t time_ns);

/* False: out of memory. */
bool comments_add(struct comments *c, struct str comment);

/* Those of the result, in order.  Call it once, behind the last comment. */
const struct comment *comments_sort(struct comments *c, size_t *n);

#endif
