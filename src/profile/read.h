#ifndef PROFILE_READ_H
#define PROFILE_READ_H

#include "base/buf.h"
#include "profile/limits.h"
#include "profile/profile.h"

/*
 * Profiles from bytes: gzip or plain; profile.proto, any legacy format,
 * or stacks as text (text_stacks.h).
 * The result is checked (profile_check) and owned by the caller.
 *
 * What a hostile input may cost is bounded by `limits`; a bound that is
 * passed is an error that names it and the number.  NULL means the defaults.
 */
struct profile *profile_read_memory(struct str bytes,
                                    const struct profile_limits *limits,
                                    struct error *err);

/* The same for bytes that are needed no more afterwards, so that a large
 * profile is never in memory twice.  Releases *bytes. */
struct profile *profile_read_buf(struct buf *bytes,
                                 const struct profile_limits *limits,
                                 struct error *err);

struct profile *profile_read_fd(int fd, const struct profile_limits *limits,
                                struct error *err);
struct profile *profile_read_file(const char *path,
                                  const struct profile_limits *limits,
                                  struct error *err);

#endif
