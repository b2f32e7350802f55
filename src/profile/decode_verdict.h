#ifndef PROFILE_DECODE_VERDICT_H
#define PROFILE_DECODE_VERDICT_H

/* Why the decoder rejects bytes; the reader decides by it what to do next. */
enum decode_verdict {
    DECODE_NOT_PROTO, /* not profile.proto: perhaps another format */
    DECODE_REFUSED,   /* empty, several profiles in a row, past a limit */
    DECODE_UNSOUND,   /* well-formed, but against the rules of check.h */
};

#endif
