#ifndef RUNTIME_THREAD_WALL_H
#define RUNTIME_THREAD_WALL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

/*
 * The wall profile: where threads are, running or not.
 *
 *     if (!wall_start(&(struct wall_options){0}, &err)) …
 *     … the program runs …
 *     wall_stop(WALL_ASKED, out, &err);  // the profile, gzip'd, appended
 *
 * There are three readers, as for the CPU profile (cpu.h): a requested profile,
 * one at a time, the file of the whole run, and the profiles pushed to a
 * collector.  Each look is made once for all of them.
 *
 * A thread of ours looks at all threads `hz` times a second, at random
 * intervals around the mean so that the looks are not in step with the
 * program.  A thread that waited and has used no CPU time since is where it
 * was: its last stack counts again, for the price of reading a clock.  Of a
 * thread that waits elsewhere by now the stack is copied (stack_look.h); a
 * thread that runs is asked for its stack (ask.h), and what it is owed is
 * counted when it answers.  No system call of the program is interrupted.
 *
 * Every sample says in which `state` the thread was: running, runnable (it
 * waited for a CPU), sleeping, disk (a sleep that no signal ends), lock (it
 * waited for another thread).
 */
#define WALL_HZ_DEFAULT 50
#define WALL_HZ_MAX     1000

enum wall_reader { WALL_ASKED, WALL_RUN_FILE, WALL_PUSHED, WALL_READERS };

struct wall_options {
    enum wall_reader reader;
    /* 0: WALL_HZ_DEFAULT.  If the readers differ, the faster rate is used for
     * all: a sample counts for the time since the last one. */
    int hz;
    bool tag_threads; /* labels thread and thread_id on every sample */
};

/* False: "wall profiling already in use", or out of memory. */
bool wall_start(const struct wall_options *options, struct error *err);

/* Ends the profile and writes it; NULL: discards it.  False: none was running,
 * or the buf is full (the profile has ended in any case). */
bool wall_stop(enum wall_reader reader, struct buf *out, struct error *err);

/* Writes what has been measured so far and goes on without a gap. */
bool wall_slice(enum wall_reader reader, struct buf *out, struct error *err);

bool wall_is_running(enum wall_reader reader);

/* In the child: the sampler stayed behind in the parent. */
void wall_after_fork(void);

#endif
