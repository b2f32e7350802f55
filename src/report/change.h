#ifndef REPORT_CHANGE_H
#define REPORT_CHANGE_H

#include "report/explain.h"
#include "report/stacks.h"

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
                  const struct stack_table *t, size_t type);

/* Before and after of one stack. */
struct amounts stack_amounts(const struct stack_table *t, const struct stack *s,
                             size_t type);

/* See explain.h.  The name is the stack table's. */
struct growth growth_find(const struct changes *c, const struct stack_table *t);

#endif
