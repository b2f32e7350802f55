#ifndef PROFILE_AGGREGATE_H
#define PROFILE_AGGREGATE_H

#include "profile/profile.h"

/* The fields of a frame that are kept; the others are cleared in the tables. */
struct granularity {
    bool inlines, function, filename, line, column, address;
};

/*
 * Clears the unwanted fields in place: names, files, lines, columns, addresses;
 * without inlines only the outermost line of a location stays.  Without lines
 * there are no columns either.  Locations and functions that are equal now are
 * not merged.
 */
void profile_aggregate(struct profile *p, struct granularity keep);

#endif
