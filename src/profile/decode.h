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
 * A sound profile (profile_check holds), or NULL with the verdict and an
 * error that says what and at which byte.  Nothing of `bytes` is kept.
 */
struct profile *profile_decode(struct str bytes,
                               const struct profile_limits *limits,
                               enum decode_verdict *verdict, struct error *err);

/*
 * The same for bytes that are needed no more afterwards: their memory is
 * given back while they are being read, so that a large profile is never in
 * memory twice.  Only after DECODE_NOT_PROTO they are still there; otherwise
 * *bytes is released.
 */
struct profile *profile_decode_consume(struct buf *bytes,
                                       const struct profile_limits *limits,
                                       enum decode_verdict *verdict,
                                       struct error *err);

#endif
