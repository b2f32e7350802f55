#ifndef PROFILE_MERGE_H
#define PROFILE_MERGE_H

#include "profile/profile.h"

/*
 * Adding and scaling profiles.
 */

/*
 * The sum of n profiles as a new, compacted one: equal samples are added,
 * what no sample uses is gone, everything is numbered from 1 by first use.
 * The sources must have the same types and units already.
 */
struct profile *profile_merge(struct profile *const *sources, size_t n,
                              struct error *err);

/*
 * Makes types and units of the profiles alike, in place: common sample types
 * in the order of the first profile, finest unit of each.  What a merge of
 * profiles from different sources needs first.
 */
bool profile_make_compatible(struct profile *const *profiles, size_t n,
                             struct error *err);

/* value := round(value * ratio); samples that become all zero go. */
void profile_scale(struct profile *p, double ratio);

/* A ratio for each type.  Values whose ratio is 1 do not keep a sample
 * alive (google/pprof's rule). */
void profile_scale_n(struct profile *p, const double *ratios);

/* Scales each type of p so that its total equals that of base. */
bool profile_normalize(struct profile *p, const struct profile *base,
                       struct error *err);

/* Puts string label key=value on every sample, replacing such a key. */
void profile_set_label(struct profile *p, struct str key, struct str value);

/* Takes the string label away from every sample. */
void profile_remove_label(struct profile *p, struct str key);

#endif
