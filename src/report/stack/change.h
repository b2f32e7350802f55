#ifndef REPORT_STACK_CHANGE_H
#define REPORT_STACK_CHANGE_H

#include "report/stack/stacks.h"

/*
 * What changed from a base profile to the one shown, function by function.
 * "Own" is what a function costs itself, "all" includes what it calls.
 */
struct amounts {
    int64_t before, after;
};

static inline int64_t amounts_grew(struct amounts a)
{
    return (int64_t)((uint64_t)a.after - (uint64_t)a.before);
}

struct function_change {
    struct amounts own, all;
    uint32_t frame; /* in the stack table */
};

struct changes {
    struct amounts total;
    struct function_change *functions; /* one for each frame of the table */
    size_t n;
};

/* The stack table must have a base, or everything counts as new. */
void changes_find(struct changes *c, struct arena *a,
                  const struct report_stacks *t, size_t type);

/*
 * What one sample is worth in the values of a type.  Sums of samples vary as
 * counts do: their variance is this times the sum.  It is the profile's period
 * if that has the unit of the type; else, if the profile counts its samples
 * (samples/count), what they are worth on average.  0 if neither is known.
 */
int64_t changes_sample_worth(const struct report_stacks *t,
                             const struct profile *p, size_t type);

/* Before and after of one stack. */
struct amounts stack_amounts(const struct report_stacks *t,
                             const struct stack *s, size_t type);

#endif
