#ifndef PROFILE_CHECK_H
#define PROFILE_CHECK_H

#include "profile/profile.h"

/*
 * Is the profile sound?  (Ids non-zero and unique, every frame has a
 * location, every line a function.)  The words are those of google/pprof,
 * without "malformed profile: " in front.
 */
bool profile_check(const struct profile *p, struct error *err);

/* The rules for mappings, functions and locations alone. */
bool profile_check_tables(const struct profile *p, struct error *err);

#endif
