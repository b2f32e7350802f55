#ifndef REPORT_STACK_GROWTH_H
#define REPORT_STACK_GROWTH_H

#include "report/stack/change.h"

/*
 * How much worse a profile is than its base, as one number, by which a build
 * can be failed.
 *
 * Growth of cost compares what functions cost with the total of the base: if
 * that is 100s, a function that went from 3s to 10s grew by 0.07.  The total
 * counts as well: from 100s to 150s is 0.5.  This is right where both profiles
 * measure the same work.
 *
 * Growth of shares compares each function with the total of its own profile:
 * from 3% to 10% is 0.07, whatever the totals are.  This is right where the
 * load differs, but when one function gets cheaper the shares of all others
 * grow.
 *
 * Both look at what a function costs itself and at what it costs with all
 * that it calls.
 */
enum growth_of {
    GROWTH_OF_COST,
    GROWTH_OF_SHARES,
};

struct growth {
    enum growth_of of;
    double grew;     /* the largest of all; negative if all shrank */
    bool of_total;   /* it is the total's, else a function's */
    struct str name; /* of the function, in the arena given */
    bool own;        /* its own cost alone, without what it calls */
    /* As parts of the total: the base's, or with shares of each profile's;
     * of the total itself: in the profile's unit. */
    double before, after;
};

struct growth growth_find(const struct changes *c,
                          const struct report_stacks *t, enum growth_of of);

/* Appends "cost of parse grew by 7.00% of the base's total, from 3.00% to
 * 10.00%", or "share of parse grew by 7.00 points, from 3.00% to 10.00%". */
void growth_describe(const struct growth *g, struct buf *out);

#endif
