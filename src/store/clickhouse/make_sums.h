#ifndef STORE_CLICKHOUSE_MAKE_SUMS_H
#define STORE_CLICKHOUSE_MAKE_SUMS_H

#include "base/clock.h"
#include "store/clickhouse/engine.h"

/*
 * Sums of days that have expired, in pprofd_sums, and in pprofd_builds which
 * of them count.
 *
 * A build has the sums of a day, or of some services and types of it, for all
 * levels that are wanted.  Readers ignore it until its rows in pprofd_builds
 * say that it is made; from then on they leave out the profiles that it is
 * the sum of.  If several builds of a service, type and day are made, the
 * largest number counts: later ones have larger numbers.
 */
enum sum_state {
    SUM_BEGUN = 1,  /* a collector is at it; a row for the whole day */
    SUM_MADE = 2,   /* readers use it; late profiles cause another build */
    SUM_SEALED = 3, /* its profiles will be dropped */
};

/* Collectors act upon a state only when it is this old, so that all of them
 * have seen it. */
#define SUM_SETTLE_NS (600 * SECOND)

/* How long other collectors wait for a build that has begun. */
#define SUM_BUILD_NS (3600 * SECOND)

/* What one build adds up, more or less, so that it does not take long. */
enum { SUM_SAMPLES = 16000000 };

/* What a build is to be made of. */
struct build_plan {
    unsigned day, levels; /* a bit for each */
    uint64_t last;        /* build of that day; 0: none */
    struct str types;     /* see struct build_part */
    uint64_t samples;
    bool once, has_wide, has_cumulative;
};

/* False: it could not be made.  `*made` says whether it counts now: it does
 * not if profiles came meanwhile. */
bool ch_make_sums(struct ch_store *s, const struct build_plan *p, bool *made,
                  struct error *err);

#endif
