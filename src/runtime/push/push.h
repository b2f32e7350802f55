#ifndef RUNTIME_PUSH_PUSH_H
#define RUNTIME_PUSH_PUSH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "runtime/push/push_options.h"

/*
 * Profiles of this process, pushed to a collector.
 *
 * Every interval a CPU profile of some seconds is taken (and a wall profile, if
 * it is wanted), then the profiles that take no time: heap, block, mutex,
 * threads.  Intervals are drawn at random around the mean, so that programs
 * that were started at the same moment do not push at the same time.
 *
 * A profile that cannot be sent waits in bounded memory and is tried again
 * after 5, 10, 15 seconds and so on, two minutes at most, ten times in all.
 * The program never waits, except at its exit: the last profiles may take
 * options.exit_ns, and at most half a second if the collector has never
 * answered.
 */
bool push_start(const struct push_options *options, struct error *err);

bool push_is_running(void);

/* Takes and sends the last profiles, and waits for it as said above.  A
 * second call waits as well, but takes nothing. */
void push_finish(void);

/* How long push_finish() may take; 0 if nothing is pushed. */
int64_t push_exit_ns(void);

/* The process becomes another program, or goes on in a child: samples must
 * not come any more, and what was measured since the last push is lost.
 * Pushing goes on, should it come to nothing. */
void push_abandon(void);

/* A forked child does not push unless _restart() is called: then it pushes with
 * the same options and its own process id. */
void push_after_fork(void);
void push_restart(void);

#endif
