#ifndef PROFILE_LIMITS_H
#define PROFILE_LIMITS_H

#include <stddef.h>

/*
 * Limits for profiles from untrusted sources.  A reader that exceeds one fails
 * with an error that names it.
 */
struct profile_limits {
    size_t input_bytes;    /* as they come in */
    size_t inflated_bytes; /* after gunzip */
    size_t samples;
    size_t string_bytes; /* of the string table */
    size_t stack_depth;  /* frames of one sample */
    size_t records; /* mappings, locations, lines, functions and labels of a
                       profile.proto: two bytes there may be 56 in memory.  0:
                       no limit */
};

extern const struct profile_limits profile_default_limits;

#endif
