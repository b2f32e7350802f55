#ifndef RUNTIME_THREAD_WALL_SAMPLER_H
#define RUNTIME_THREAD_WALL_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "runtime/unwind/stack_table.h"

/*
 * The thread behind the wall profile.  It counts where threads are in a table
 * of the caller's: value 0 is samples, value 1 nanoseconds.
 *
 *     wall_sampler_start(&table, period_ns, tag_threads, &err);
 *     …
 *     wall_sampler_pause();      // to read or replace the table
 *     wall_sampler_resume();
 *     …
 *     wall_sampler_stop();       // the table is complete
 *
 * There is one in a process.
 */
struct wall_counts {
    uint64_t ticks, copies, signals, repeats, no_stack, incomplete, refused;
};

bool wall_sampler_start(struct stack_table *table, int64_t period_ns,
                        bool tag_threads, struct error *err);
void wall_sampler_stop(void);

/* Between these two nothing is counted; time that passes counts afterwards. */
void wall_sampler_pause(void);
void wall_sampler_resume(void);

/* While it is paused, or stopped: */
struct wall_counts wall_sampler_counts(void);
void wall_sampler_set(int64_t period_ns, bool tag_threads);
void wall_sampler_use(struct stack_table *table); /* this one from now on */

/* In the child: the thread stayed behind in the parent. */
void wall_sampler_after_fork(void);

#endif
