#ifndef PROFILE_LOCATE_H
#define PROFILE_LOCATE_H

#include "profile/profile.h"

/*
 * Gives every location that has an address the mapping that holds it, and
 * numbers the mappings from 1.
 *
 * The first mapping in the list that covers an address has it.  Failing that
 * the first whose file offset reaches back to the address (its first part
 * was not listed): its start is moved there.  Failing that a nameless one
 * over all addresses, added at the end.  The first mapping is put right
 * before where it is known to be misreported: a huge page in front of the
 * program, a program at 0x400000 that was remapped.
 */
void locate_in_mappings(struct profile *p, struct arena *scratch);

#endif
