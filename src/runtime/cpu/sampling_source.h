#ifndef RUNTIME_CPU_SAMPLING_SOURCE_H
#define RUNTIME_CPU_SAMPLING_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/pages.h"
#include "runtime/cpu/sigprof.h"

/*
 * Where the sampling signals of each thread come from: a perf event
 * (CPU_SOURCE_PERF), a CPU timer (CPU_SOURCE_TIMER) or both
 * (CPU_SOURCE_PERF_USER).  A thread beyond SAMPLER_MAX_EVENTS, or one for
 * which there is no file descriptor left, has a timer instead of an event.
 *
 * This only starts them: the handler draws the interval to each next sample
 * (intervals.h) and sets the thread's event or timer.
 *
 * New threads announce themselves with sampling_source_add() where
 * pthread_create is wrapped.  Where it is not, they inherit the event of the
 * thread that made them, with a random but fixed period, until
 * sampling_source_scan() finds them and gives them one of their own.
 */
struct sampling_source {
    bool is_open;
    enum cpu_source kind;
    int64_t period_ns;
    struct pages_vec threads; /* of struct thread_source */
    size_t hint;              /* where the next one is looked for */
    uint64_t random;
    bool is_enabled;   /* events that are made from now on count at once */
    uint64_t n_timers; /* that were made so far */
    uint64_t failed;   /* threads that got neither event nor timer */
    uint64_t change;   /* of threads, at the last scan */
    unsigned looks;    /* since the last full scan */
};

/* Makes events or timers for all threads; events do not count yet.  False:
 * refused, err says why; CPU_SOURCE_PERF may then still work as
 * CPU_SOURCE_PERF_USER if errno is EACCES or EPERM. */
bool sampling_source_open(struct sampling_source *s, enum cpu_source kind,
                          int64_t period_ns, struct error *err);
void sampling_source_enable(struct sampling_source *s);

/* From events to timers, while samples are taken. */
void sampling_source_change_to_timers(struct sampling_source *s);

/* Handles new threads and ended ones.  Cheap if their number has not changed,
 * except every tenth time; true if it has changed. */
bool sampling_source_scan(struct sampling_source *s);

/* No handler may be running any more, or it must end within the grace
 * period. */
void sampling_source_close(struct sampling_source *s);

/* By a thread for itself, at its start and end: the first signal when its CPU
 * clock says first_ns.  Does nothing when the source is not open. */
void sampling_source_add(struct sampling_source *s, int tid, int64_t first_ns);
void sampling_source_remove(struct sampling_source *s, int tid);

/* Around fork, so that the child knows which file descriptors to close: waits a
 * little for a thread that is just opening one.  Returns whether the lock was
 * taken. */
bool sampling_source_before_fork(void);
void sampling_source_after_fork_in_parent(bool locked);
void sampling_source_after_fork(struct sampling_source *s, bool locked);

/*
 * How often the program's threads go to sleep, since the last time asked (0:
 * since its start).
 */
struct source_load {
    int64_t switches, cpu_ns;
};

/* Returns true if threads switch so often that perf events cost too much.
 * Reports the rate per CPU second and starts counting again; false also while
 * there is too little data. */
bool source_is_switchy(struct source_load *since, double *per_second);

#endif
