#ifndef RUNTIME_WALL_H
#define RUNTIME_WALL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

/*
 * The wall profile: where threads are, running or not.  One at a time in a
 * process.
 *
 *     if (!wall_start(&(struct wall_options){0}, &err)) …
 *     … the program runs …
 *     wall_stop(out, &err);     // the profile, gzip'd, appended to out
 *
 * A thread of ours looks at all threads `hz` times a second, at moments that
 * are a bit random so that they do not march in step with the program.  A
 * thread that was blocked and has used no CPU time since is where it was: its
 * last stack counts again, for the price of reading a clock.  Only who has
 * moved is sent a signal (SIGURG) and writes down its stack, so a blocked
 * system call is interrupted once, not at every look.
 *
 * Every sample says in which `state` the thread was: running, runnable (it
 * waited for a CPU), sleeping, disk (a sleep that no signal ends), lock (it
 * waited for another thread).
 */
#define WALL_HZ_DEFAULT 50
#define WALL_HZ_MAX     1000

struct wall_options {
    int hz;           /* 0: WALL_HZ_DEFAULT */
    bool tag_threads; /* labels thread and thread_id on every sample */
};

/* False: "wall profiling already in use", or out of memory. */
bool wall_start(const struct wall_options *options, struct error *err);

/* Ends the profile and writes it; NULL: nobody wants it.  False: none was
 * running, or the buf is full (the profile is over in any case). */
bool wall_stop(struct buf *out, struct error *err);

bool wall_is_running(void);

/* In the child: the sampler stayed behind in the parent. */
void wall_after_fork(void);
void wall_api_after_fork(void);

#endif
