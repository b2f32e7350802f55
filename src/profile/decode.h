#ifndef PROFILE_DECODE_H
#define PROFILE_DECODE_H

#include "base/buf.h"
#include "base/str.h"
#include "profile/profile.h"
#include "profile/read.h"

/*
 * profile.proto bytes to the model.  What is wrong with bytes that are not
 * accepted decides what a reader does next.
 */
enum decode_verdict {
    DECODE_NOT_PROTO, /* not profile.proto: perhaps another format */
    DECODE_REFUSED,   /* empty, several profiles in a row, past a limit */
    DECODE_UNSOUND,   /* well-formed, but against the rules of check.h */
};

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
