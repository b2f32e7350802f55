#ifndef PROFILE_READ_H
#define PROFILE_READ_H

#include "profile/profile.h"

/*
 * Profiles from bytes: gzip or plain; profile.proto, any legacy format,
 * or stacks as text (text_stacks.h).
 * The result is checked (profile_check) and owned by the caller.
 *
 * What a hostile input may cost is bounded by `limits`; a bound that is
 * passed is an error that names it and the number.  NULL means the defaults.
 */
struct profile_limits {
    size_t input_bytes;    /* as they come in */
    size_t inflated_bytes; /* after gunzip */
    size_t samples;
    size_t string_bytes; /* of the string table */
    size_t stack_depth;  /* frames of one sample */
    size_t records; /* mappings, locations, lines, functions and labels of a
                       profile.proto: two bytes there may be 56 in memory.
                       0: as many as there are */
};

extern const struct profile_limits profile_default_limits;

struct profile *profile_read_memory(struct str bytes,
                                    const struct profile_limits *limits,
                                    struct error *err);
struct profile *profile_read_fd(int fd, const struct profile_limits *limits,
                                struct error *err);
struct profile *profile_read_file(const char *path,
                                  const struct profile_limits *limits,
                                  struct error *err);

#endif
