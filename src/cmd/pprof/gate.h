#ifndef CMD_PPROF_GATE_H
#define CMD_PPROF_GATE_H

#include "cmd/pprof/options.h"
#include "profile/profile.h"

/*
 * -fail_above and -fail_above_share: checks whether the cost of a function, or
 * its share of the total, grew by more than the limit since the base.
 */
enum gate {
    GATE_PASSED, /* or nobody asked */
    GATE_CLOSED, /* it grew too much; said on stderr */
    GATE_FAILED, /* it cannot be known: err */
};

/* Is there a limit at all? */
static inline bool gate_is_wanted(const struct options *o)
{
    return o->fail_above >= 0 || o->fail_above_share >= 0;
}

/* The profile's base must be marked (options.mark_base); it is only read. */
enum gate gate_check(const struct options *o, const struct profile *p,
                     struct error *err);

#endif
