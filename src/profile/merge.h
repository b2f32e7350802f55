#ifndef PROFILE_MERGE_H
#define PROFILE_MERGE_H

#include "profile/profile.h"

/*
 * Adding profiles.  Values wrap like two's complement.
 */

/*
 * The sum of n profiles as a new, compacted one: equal samples are added,
 * what no sample uses is gone, everything is numbered from 1 by first use;
 * samples whose values are all zero are gone too.  The first mapping stays
 * first, used or not.  The caller owns the result; the sources are only
 * read.
 *
 * The sources must have the same types and units already (see
 * profile/compatible.h); otherwise, or without sources, it fails.
 *
 * Of the header, types and frame expressions are the first profile's, time is
 * the earliest, durations add up, the period is the largest, comments are
 * collected once each, default type and URL are the first that any has.  (As in
 * google/pprof, a later time of 0 counts as the earliest.)
 */
struct profile *profile_merge(struct profile *const *sources, size_t n,
                              struct error *err);

#endif
