#ifndef REPORT_EXPLAIN_H
#define REPORT_EXPLAIN_H

#include "profile/profile.h"
#include "report/config.h"

/*
 * How much worse a profile is than its base, as one number: a build can be
 * stopped by it.
 *
 * A function's growth is that of its share, in hundredths of the total that
 * it is a part of: from 3% to 10% is 0.07.  Both what it costs itself and
 * what it costs with all it calls are looked at.  The total's growth is
 * relative: from 2s to 3s is 0.5.
 */
struct growth {
    double grew;          /* the largest of all; negative if all shrank */
    bool of_total;        /* it is the total's; else a function's share */
    struct str name;      /* of the function, in the arena given */
    bool own;             /* its own cost alone, without what it calls */
    double before, after; /* the shares, or the totals in the profile's unit */
};

/*
 * The profile holds both: the samples of the base are negated and have the
 * label pprof::base=true, as -diff_base makes them.  Filters and granularity
 * of the config are obeyed.  The profile is used up, as by report_write.
 */
bool report_growth(struct profile *p, const struct report_config *config,
                   struct arena *a, struct growth *out, struct error *err);

/* Appends "share of parse grew by 7.00 points, from 3.00% to 10.00%". */
void growth_describe(const struct growth *g, struct buf *out);

#endif
