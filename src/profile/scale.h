#ifndef PROFILE_SCALE_H
#define PROFILE_SCALE_H

#include "profile/profile.h"

/*
 * Multiplying the values of a profile.
 */

/* value := round(value * ratio); samples whose values all become zero are
 * removed. */
void profile_scale(struct profile *p, double ratio);

/* A ratio for each type.  Values whose ratio is 1 do not keep a sample
 * alive (google/pprof's rule). */
void profile_scale_n(struct profile *p, const double *ratios);

/* Scales each type of p so that its total equals that of base.  Fails when
 * the types or units of the two differ. */
bool profile_normalize(struct profile *p, const struct profile *base,
                       struct error *err);

#endif
