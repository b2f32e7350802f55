#ifndef RUNTIME_THREAD_RUN_SHARE_H
#define RUNTIME_THREAD_RUN_SHARE_H

#include <stdint.h>

/*
 * Decides whether a thread that is awake is running or waiting for a CPU.
 *
 * Another thread cannot simply look: if it shares the CPU, the answer is always
 * "waiting".  So the scheduler's statistics decide.  They say which part of the
 * time since the last look the thread ran, and the same part of the looks is
 * called running.
 */
struct run_share {
    int64_t time_ns, cpu_ns;   /* at the last look; 0: there was none */
    int64_t ran_ns, waited_ns; /* up to then, as the scheduler counts */
    int64_t credit;            /* thousandths of a look that it ran and that
                                  were not called so yet */
};

/* At a look at `time_ns`, when the thread had used `cpu_ns`: STATE_RUNNING or
 * STATE_RUNNABLE; `guess` while there is nothing to count from. */
unsigned run_share_state(struct run_share *s, int tid, int64_t time_ns,
                         int64_t cpu_ns, unsigned guess);

/* The same from numbers of the scheduler. */
unsigned run_share_next(struct run_share *s, int64_t ran_ns, int64_t waited_ns,
                        unsigned guess);

#endif
