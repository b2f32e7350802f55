#ifndef PROFILE_DIFF_H
#define PROFILE_DIFF_H

#include "profile/profile.h"

/* The label that marks samples of a base: pprof::base=true. */
#define BASE_LABEL_KEY   STR("pprof::base")
#define BASE_LABEL_VALUE STR("true")

/* One profile out of several, which it frees, whether it works or not. */
struct profile *profile_combine(struct profile **profiles, size_t n,
                                struct error *err);

/* A profile and what it is compared with: NULL if it is not. */
struct profile_pair {
    struct profile *profile, *base;
};

void profile_pair_free(struct profile_pair pair);

struct diff_options {
    bool mark;      /* the samples of the base stay apart, with the label */
    bool normalize; /* scale p to the base's totals first */
};

/* p - base as one profile.  Where the comments of both say
 * "key: …", but not the same, each gets "base: " or "profile: " in front.
 * Frees both, whether it works or not. */
struct profile *profile_diff(struct profile *p, struct profile *base,
                             struct diff_options options, struct error *err);

#endif
