#ifndef PROFILE_MERGE_H
#define PROFILE_MERGE_H

#include "profile/profile.h"

/*
 * Adding and scaling profiles.  Values wrap like two's complement.
 */

/*
 * The sum of n profiles as a new, compacted one: equal samples are added,
 * what no sample uses is gone, everything is numbered from 1 by first use;
 * samples whose values are all zero are gone too.  The first mapping stays
 * first, used or not.  The caller owns the result; the sources are only
 * read.
 *
 * The sources must have the same types and units already (see
 * profile_make_compatible); otherwise, or without sources, it fails.
 *
 * Of the header, types and frame expressions are the first profile's, time
 * is the earliest, durations add up, the period is the largest, comments are
 * collected once each, default type and URL are the first that any has.  (A
 * later time of 0 counts as earliest: google/pprof's rule.)
 */
struct profile *profile_merge(struct profile *const *sources, size_t n,
                              struct error *err);

/*
 * Makes types and units of the profiles alike, in place: common sample types
 * in the order of the first profile, finest unit of each.  What a merge of
 * profiles from different sources needs first.  When it fails the profiles
 * may have lost the types that they do not share.
 */
bool profile_make_compatible(struct profile *const *profiles, size_t n,
                             struct error *err);

/* value := round(value * ratio); samples that become all zero go. */
void profile_scale(struct profile *p, double ratio);

/* A ratio for each type.  Values whose ratio is 1 do not keep a sample
 * alive (google/pprof's rule). */
void profile_scale_n(struct profile *p, const double *ratios);

/* Scales each type of p so that its total equals that of base.  Fails when
 * the types or units of the two differ. */
bool profile_normalize(struct profile *p, const struct profile *base,
                       struct error *err);

/* Puts string label key=value on every sample, replacing such a key. */
void profile_set_label(struct profile *p, struct str key, struct str value);

/* Takes the string label away from every sample. */
void profile_remove_label(struct profile *p, struct str key);

#endif
