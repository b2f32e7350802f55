#ifndef CMD_PPROF_GATE_H
#define CMD_PPROF_GATE_H

#include "cmd/pprof/options.h"
#include "profile/profile.h"

/*
 * -fail_above: did a function's share, or the total, grow over the base by
 * more than is allowed?
 */
enum gate {
    GATE_PASSED, /* or nobody asked */
    GATE_CLOSED, /* it grew too much; said on stderr */
    GATE_FAILED, /* it cannot be known: err */
};

/* The profile's base must be marked (options.mark_base); it is only read. */
enum gate gate_check(const struct options *o, const struct profile *p,
                     struct error *err);

#endif
