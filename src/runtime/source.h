#ifndef RUNTIME_SOURCE_H
#define RUNTIME_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/pages.h"
#include "runtime/sigprof.h"

/*
 * Where the sampling signals come from.
 *
 * perf: one task-clock event for each thread there is, inherited by the
 * threads they make; a synchronous SIGTRAP in the running thread.  timer: a
 * CPU timer for each thread, SIGPROF; new threads are found by
 * source_timer_scan(), or make their own with source_timer_add() where
 * pthread_create is wrapped.
 */
struct source_perf {
    struct pages_vec fds; /* of int */
};

/*
 * The first event of all on a machine makes the kernel wait for every CPU, 10
 * to 30 ms; whoever holds one when the others are opened spares them that.
 * An fd for the caller's thread that counts nothing, or -1.
 */
int source_perf_warm(void);

/* Opens the events, not yet counting.  Says in *kind whether kernel time is
 * included (never if user_only).  False: refused, err says by whom. */
bool source_perf_open(struct source_perf *s, int64_t period_ns, bool user_only,
                      enum cpu_source *kind, struct error *err);
void source_perf_enable(struct source_perf *s, bool on);
void source_perf_close(struct source_perf *s);

struct thread_timer {
    int tid;
    int timer; /* the kernel's number, -1: could not be made */
    bool seen;
};

struct source_timer {
    bool is_open;
    struct pages_vec timers; /* of struct thread_timer */
    size_t hint;             /* where the next one is looked for */
    int64_t period_ns;
    uint64_t failed; /* timers that the kernel refused (RLIMIT_SIGPENDING) */
    uint64_t seed;
    uint64_t n_threads; /* at the last look */
    unsigned looks;     /* since the last full one */
};

/* Makes timers for all threads. */
bool source_timer_open(struct source_timer *s, int64_t period_ns,
                       struct error *err);
/* Makes those of new threads, deletes those of dead ones.  Cheap when their
 * number is as it was, but for every tenth time; true when it was not. */
bool source_timer_scan(struct source_timer *s);
void source_timer_close(struct source_timer *s);

/* By a thread for itself, at its start and end: the first signal when its
 * CPU clock says first_ns.  Does nothing when the source is not open. */
void source_timer_add(struct source_timer *s, int tid, int64_t first_ns);
void source_timer_remove(struct source_timer *s, int tid);

/* In a forked child, which has no timer. */
void source_timer_after_fork(void);

/*
 * How often the program's threads go to sleep, since the last time asked (0:
 * since its start).
 */
struct source_load {
    int64_t switches, cpu_ns;
};

/* So often that perf events cost too much?  Says how often a CPU second, and
 * begins anew; false also while too little has been seen to tell. */
bool source_is_switchy(struct source_load *since, double *per_second);

/* Calls `each` for every thread of the process; false: /proc is not there.
 * Returning false from `each` ends it. */
bool source_each_thread(bool (*each)(void *ctx, int tid), void *ctx);

#endif
