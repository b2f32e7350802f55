#ifndef PROFILE_DECODE_H
#define PROFILE_DECODE_H

#include "base/buf.h"
#include "base/str.h"
#include "profile/decode_verdict.h"
#include "profile/limits.h"
#include "profile/profile.h"

/*
 * profile.proto bytes to the model.
 */
/*
 * A valid profile (profile_check succeeds), or NULL with the verdict and an
 * error that names the byte.  The profile does not refer to `bytes`.
 */
struct profile *profile_decode(struct str bytes,
                               const struct profile_limits *limits,
                               enum decode_verdict *verdict, struct error *err);

/*
 * The same for bytes that are not needed afterwards: their memory is released
 * while they are being read, so that a large profile is never in memory twice.
 * *bytes is released, except after DECODE_NOT_PROTO.
 */
struct profile *profile_decode_consume(struct buf *bytes,
                                       const struct profile_limits *limits,
                                       enum decode_verdict *verdict,
                                       struct error *err);

#endif
