#ifndef RUNTIME_HOOK_LOCK_HOOKS_H
#define RUNTIME_HOOK_LOCK_HOOKS_H

#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "runtime/lock/locks.h"

/*
 * The wrappers of locks and of calls that wait (lock_hooks.c, rwlock_hooks.c,
 * wait_hooks.c): functions that have the names of libc's.  They are part of
 * the preload library, and of what programs link to get the same.
 */

/* A condition variable is about to release the mutex: charge its holder. */
void lock_hooks_before_wait(pthread_mutex_t *m, struct lock_site site);

typedef const struct timespec *timeout;

static inline bool lock_hooks_on(void)
{
    return atomic_load_explicit(&lock_watch.on, memory_order_relaxed);
}

/* Somebody waits for something that somebody holds. */
static inline bool lock_hooks_has_waiters(void)
{
    return atomic_load_explicit(&lock_watch.lines.waiters,
                                memory_order_relaxed) != 0;
}

/* An answer that came after waiting, not instead of it. */
static inline bool lock_hooks_waited(int rc)
{
    return rc == 0 || rc == ETIMEDOUT || rc == EOWNERDEAD;
}

/* An errno value as C11's functions say it. */
int lock_hooks_c11(int rc);

#endif
