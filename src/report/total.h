#ifndef REPORT_TOTAL_H
#define REPORT_TOTAL_H

#include "profile/diff.h"
#include "report/context.h"

/*
 * What 100% means: the sum of the absolute values of all samples.  If some
 * are marked as those of a base profile (-diff_base), they alone count.
 * With -mean it is the sum divided by the sum of the divisors.
 */
int64_t report_total(const struct report *r);

/* The label of a base's samples (profile/diff.h) in a profile: find it once,
 * ask for each sample. */
struct base_mark {
    string_id key, value; /* NO_INDEX when no sample can have it */
};

struct base_mark base_mark_find(const struct profile *p);
bool base_mark_on(const struct base_mark *m, const struct profile *p,
                  size_t sample);

#endif
