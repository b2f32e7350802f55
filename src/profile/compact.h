#ifndef PROFILE_COMPACT_H
#define PROFILE_COMPACT_H

#include "profile/profile.h"

/*
 * Drops the samples whose values are all zero, then what no sample uses any
 * more (but for the first mapping), and numbers the rest from 1 by first use,
 * in place.  Equal samples are not merged.
 */
void profile_compact(struct profile *p);

#endif
