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
 * Zero is the empty set.  Memory is bounded by the limit and by the comments of
 * the first profile.
 */
struct comments {
    struct table texts;
    uint32_t *profiles; /* how many had it, by text */
    uint32_t *last;     /* number of the last profile that had it, by text */
    size_t profiles_cap, last_cap;
    uint32_t n_profiles;
    bool too_many; /* some were not added */
};

#define COMMENTS_MAX 16 /* distinct ones that are all kept */

void comments_release(struct comments *c);

/* The following comments are of another profile. */
void comments_next_profile(struct comments *c);

/* False: out of memory. */
bool comments_add(struct comments *c, struct str comment);

/* Numbers of comments are 0 to c->texts.n - 1.  Returns true if this one is in
 * the result. */
bool comments_keeps(const struct comments *c, uint32_t i);

#endif
