#ifndef RUNTIME_HOOK_RUN_WRITER_H
#define RUNTIME_HOOK_RUN_WRITER_H

#include <stdbool.h>

#include "base/error.h"
#include "runtime/hook/run_files.h"

/*
 * The thread that writes the files of a run (run_files.h).
 *
 * A program may end anywhere: in a signal handler that interrupted malloc, in
 * _exit of one thread while others hold locks, in exec.  Nothing can be
 * written there, so all of these ask this thread and wait for it, but not for
 * longer than RUN_PATIENCE_NS: a program that must end shall not hang.
 */
#define RUN_PATIENCE_NS ((int64_t)3000000000)

bool run_writer_start(struct error *err);

/* Returns true if the thread exists and this is its process.  False in a child
 * after vfork, and after a fork that is not profiled.  Async-signal-safe. */
bool run_writer_is_up(void);

/*
 * Has the files written, and waits for it; a second call waits, too, and
 * writes nothing.  `next` is the program to come, for RUN_EXECS.  False: it
 * is not done after `patience_ns`; 0 waits for ever.  Async-signal-safe.
 */
bool run_writer_finish(enum run_moment moment, const char *next,
                       int64_t patience_ns);

/* exec failed after all: starts the profiles again. */
void run_writer_resume(void);

/* Has run_files_toggle() called, as soon as the thread is there.
 * Async-signal-safe. */
void run_writer_toggle(void);

/* In a forked child there is no such thread. */
void run_writer_after_fork(void);

#endif
