#ifndef RUNTIME_CPU_SAMPLING_THREAD_H
#define RUNTIME_CPU_SAMPLING_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

/*
 * The thread that controls sampling while a CPU profile runs.
 *
 * It opens the source (perf events where they are allowed, else CPU timers),
 * so that the program does not wait for the kernel; watches that our handler
 * stays where it is; finds new threads and new code.
 *
 * A perf event costs at every switch between threads, about 2 us on a virtual
 * machine: some per cent of a server that sleeps and wakes for each request.
 * When the program is of that kind, timers take over: they cost per sample
 * only.  They see time at the scheduler's ticks, so a program whose work is
 * bound to the ticks' phase is better served by perf events; such programs
 * switch a thousand times less.
 */
struct sampling_thread_options {
    int64_t period_ns;
    bool only_perf, only_timer; /* this one or none */
    bool user_only;             /* perf events without the kernel's time */
};

/* Signals come from now on, or, when the kernel takes its time, some
 * milliseconds later.  sampler is set up but for source and running, which
 * the sampling thread sets.  False: no source works; the thread has ended. */
bool sampling_thread_start(const struct sampling_thread_options *options,
                           struct error *err);

/* No signal is sent after this; one may be on its way. */
void sampling_thread_stop(void);

/* Appends comments for the profile, a line each. */
void sampling_thread_add_comments(struct buf *out);

/* For threads whose start and end we see, by the thread itself; see
 * sigprof_thread_begin(). */
void sampling_thread_thread_begin(void);
void sampling_thread_thread_end(void *(*run)(void *));

/* Around fork.  In the child there is no thread, no event and no timer; unless
 * the lock was taken, file descriptors that were being opened or closed stay as
 * they are. */
bool sampling_thread_before_fork(void);
void sampling_thread_after_fork_in_parent(bool locked);
void sampling_thread_after_fork(bool locked);

#endif
