#ifndef PROFILE_AGGREGATE_H
#define PROFILE_AGGREGATE_H

#include "profile/profile.h"

/* What of a frame stays apart; the rest is cleared in the tables. */
struct granularity {
    bool inlines, function, filename, line, column, address;
};

/* Clears what is not wanted, in place.  Objects are not merged here. */
bool profile_aggregate(struct profile *p, struct granularity keep,
                       struct error *err);

#endif
