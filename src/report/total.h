#ifndef REPORT_TOTAL_H
#define REPORT_TOTAL_H

#include "report/context.h"

/*
 * What 100% means: the sum of the absolute values of all samples.  If some
 * are marked as those of a base profile (-diff_base), they alone count.
 * With -mean it is the sum divided by the sum of the divisors.
 */
int64_t report_total(const struct report *r);

/* The label that marks samples of a base: pprof::base=true. */
#define BASE_LABEL_KEY   STR("pprof::base")
#define BASE_LABEL_VALUE STR("true")

#endif
