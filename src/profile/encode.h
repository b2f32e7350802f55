#ifndef PROFILE_ENCODE_H
#define PROFILE_ENCODE_H

#include "base/buf.h"
#include "profile/profile.h"

/*
 * profile.proto bytes, the same for the same profile: string table in order
 * of first use, fields in order of their numbers (google/pprof's encoder,
 * byte for byte).
 *
 * libpprof has an encoder of its own, runtime/write/writer.c, over the same
 * profile/wire.h and profile/proto.h.  The two share no more because they
 * start from different things: this one from a complete model in an arena,
 * that one from a table that other threads still add to, in a process where
 * it may neither use an arena nor keep a copy of the samples.
 */
void profile_encode(const struct profile *p, struct buf *out);

/* The same, gzipped. */
bool profile_encode_gzip(const struct profile *p, struct buf *out,
                         struct error *err);

/*
 * The same for a profile that is not needed afterwards: the memory of its
 * samples is released while they are being written, so that a large profile is
 * never in memory twice.  The profile then has no samples.
 */
bool profile_encode_gzip_consume(struct profile *p, struct buf *out,
                                 struct error *err);

#endif
