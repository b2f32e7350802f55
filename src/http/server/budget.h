#ifndef HTTP_SERVER_BUDGET_H
#define HTTP_SERVER_BUDGET_H

#include <stdint.h>

/*
 * CPU time that may be spent: a share of one CPU, with some saved up.  The
 * clocks are the caller's.
 */
struct budget {
    unsigned percent; /* of one CPU; 0: no limit */
    int64_t saved_max_ns;
    int64_t saved_ns; /* below zero: more was spent than there was */
    int64_t since_ns;
};

static inline void budget_init(struct budget *b, unsigned percent,
                               int64_t saved_max_ns, int64_t now_ns)
{
    *b = (struct budget){percent, saved_max_ns, saved_max_ns, now_ns};
}

/* Spends cpu_ns, and returns how long to wait until the budget is positive
 * again; 0: no wait. */
static inline int64_t budget_spend(struct budget *b, int64_t cpu_ns,
                                   int64_t now_ns)
{
    if (b->percent == 0)
        return 0;
    b->saved_ns += (now_ns - b->since_ns) * b->percent / 100;
    b->since_ns = now_ns;
    if (b->saved_ns > b->saved_max_ns)
        b->saved_ns = b->saved_max_ns;
    b->saved_ns -= cpu_ns;
    return b->saved_ns < 0 ? -b->saved_ns * 100 / b->percent : 0;
}

#endif
