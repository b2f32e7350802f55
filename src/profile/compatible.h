#ifndef PROFILE_COMPATIBLE_H
#define PROFILE_COMPATIBLE_H

#include "profile/profile.h"

/*
 * Makes types and units of the profiles alike, in place: common sample types in
 * the order of the first profile, finest unit of each.  Do this before merging
 * profiles from different sources.  After a failure the profiles may have lost
 * the types that they do not share.
 */
bool profile_make_compatible(struct profile *const *profiles, size_t n,
                             struct error *err);

#endif
