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
 * `limits` bounds the cost of hostile input; an exceeded limit is an error that
 * names it and the number.  NULL means the defaults.
 */
struct profile *profile_read_memory(struct str bytes,
                                    const struct profile_limits *limits,
                                    struct error *err);

/* The same for bytes that are not needed afterwards, so that a large profile is
 * never in memory twice.  Releases *bytes. */
struct profile *profile_read_buf(struct buf *bytes,
                                 const struct profile_limits *limits,
                                 struct error *err);

struct profile *profile_read_fd(int fd, const struct profile_limits *limits,
                                struct error *err);
struct profile *profile_read_file(const char *path,
                                  const struct profile_limits *limits,
                                  struct error *err);

#endif
