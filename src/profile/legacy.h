#ifndef PROFILE_LEGACY_H
#define PROFILE_LEGACY_H

#include "profile/limits.h"
#include "profile/profile.h"

/*
 * The formats from before profile.proto: gperftools CPU profiles (binary,
 * native or Java), heap, growth and fragmentation text, Go's count profiles,
 * thread dumps, contention text, Java's heapz and contentionz.
 *
 * Each parser in turn checks whether the (inflated) bytes are in its format;
 * the first that accepts them decides.  NULL with err "unrecognized profile
 * format" when all decline.  The profile is the caller's; it is not checked
 * (profile_check).  `limits` is not NULL.
 */
struct profile *profile_parse_legacy(struct str bytes,
                                     const struct profile_limits *limits,
                                     struct error *err);

#endif
