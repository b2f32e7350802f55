#ifndef RUNTIME_HOOK_END_SIGNALS_H
#define RUNTIME_HOOK_END_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/*
 * Signals that end the program (Ctrl-C, SIGTERM, a crash) while there are
 * files to write: they are written first, then the signal does what it would
 * have done, with the wait status and the core file that it would have left.
 *
 * Our handler is installed only where the program has none, and the program
 * never sees it: sigaction() and signal() report the default action, and a
 * handler that the program sets replaces ours (thread_hooks.c).  One that it
 * sets for a single call (SA_RESETHAND) is followed by ours.
 *
 * Nothing can be saved after SIGKILL, or when a thread has no stack left for
 * a handler.
 */

/* Installs the handler; `except` is a signal that has another purpose, or 0.
 * `finish` is called in the handler and has the files written.  In process 1
 * of a container only for crashes: the kernel protects it from other signals
 * as long as it has no handler. */
void end_signals_watch(void (*finish)(int sig), int except);

/* In a forked child that is profiled, too: its parent may be process 1. */
void end_signals_after_fork(void);

/* sigaction() for the program; false: the signal is none of ours, call the
 * next one.  Async-signal-safe. */
typedef int end_sigaction_fn(int, const struct sigaction *, struct sigaction *);
bool end_signals_set(end_sigaction_fn *real, int sig,
                     const struct sigaction *act, struct sigaction *old,
                     int *result);

#endif
