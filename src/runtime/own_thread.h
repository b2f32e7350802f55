#ifndef RUNTIME_OWN_THREAD_H
#define RUNTIME_OWN_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * What is the library's own, and not the program's: its threads, and what the
 * program's threads do while they are in a function of <pprof/pprof.h>.  It is
 * left out of all profiles: no samples, no allocations, no waits, no threads.
 * PPROF_SELF=1 shows it, for developers of the library.
 */

/* Starts a thread of ours: named ("pprof-…"), all signals blocked, a small
 * stack, in the list from its first moment to its last. */
bool own_thread_start(pthread_t *out, const char *name, void *(*run)(void *),
                      void *arg, struct error *err);

/* For a thread that was started elsewhere.  Leave before it ends. */
void own_thread_enter(void);
void own_thread_leave(void);

bool own_thread_is(int tid); /* never if they are shown */

/*
 * A thread of the program enters the library:
 *
 *     struct own_scope scope = own_scope_enter(__builtin_return_address(0));
 *     …
 *     own_scope_restore(&scope);
 *
 * Stacks of the thread begin where `caller` returns to meanwhile.  Scopes may
 * be nested.  own_scope_leave() is for calling a function of the program's
 * from inside one, and is restored the same way.
 */
struct own_scope {
    bool was_own;
    uint64_t caller;
    int64_t heap_left; /* of the heap sampler, which counts bytes down */
    uint32_t heap_rate;
};
struct own_scope own_scope_enter(const void *caller);
struct own_scope own_scope_leave(void);
void own_scope_restore(const struct own_scope *scope);

/* The ids of those that are running, at most max; their number. */
#define OWN_THREADS_MAX 32
size_t own_threads_list(int *out, size_t max);

/* Their stacks.  They run no code of the program, so nothing in them belongs
 * to it. */
struct own_stack {
    uint64_t start, limit;
};
size_t own_threads_stacks(struct own_stack *out, size_t max);

/* Before threads are listed: waits until threads of ours that have just been
 * started are in the list, and forgets the dead. */
void own_threads_settle(void);

/* In a forked child there are none. */
void own_threads_after_fork(void);

#endif
