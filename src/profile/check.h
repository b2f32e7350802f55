#ifndef PROFILE_CHECK_H
#define PROFILE_CHECK_H

#include "profile/profile.h"

/*
 * Checks that the profile is valid: ids are non-zero and unique, every frame
 * has a location, every line a function.  The errors are google/pprof's,
 * without the prefix "malformed profile: ".
 */
bool profile_check(const struct profile *p, struct error *err);

/* The rules for mappings, functions and locations alone. */
bool profile_check_tables(const struct profile *p, struct error *err);

#endif
