/*
 * Wrappers of read-write locks and spinlocks: tried first, and waited for,
 * with a look at the clock, only when that fails.
 */
#include <errno.h>
#include <pthread.h>

#include "pprof/pprof.h"
#include "runtime/hook/hook_next.h"
#include "runtime/hook/lock_hooks.h"
#include "runtime/lock/locks.h"
#include "runtime/own_code.h"

typedef int rwlock_fn(pthread_rwlock_t *);
typedef int spin_fn(pthread_spinlock_t *);

static bool readers_are_known;

/* --- read-write locks ---------------------------------------------------- */

static hook_slot next_rdlock, next_wrlock, next_rwunlock;
static hook_slot next_tryrdlock, next_trywrlock;

static __attribute__((noinline)) int lock_rwlock(pthread_rwlock_t *l,
                                                 rwlock_fn *real,
                                                 rwlock_fn *attempt,
                                                 struct lock_site site)
{
    struct lock_wait w;
    int rc = lock_hooks_on() ? attempt(l) : EBUSY;

    if (rc != EBUSY)
        return rc;
    if (!locks_wait_begin(&w, l, site))
        return real(l);
    rc = real(l);
    locks_wait_end(&w, lock_hooks_waited(rc));
    return rc;
}

static __attribute__((noinline)) int rdlock_slow(pthread_rwlock_t *l,
                                                 struct lock_site site)
{
    return lock_rwlock(l, hook_next(&next_rdlock, "pthread_rwlock_rdlock"),
                       hook_next(&next_tryrdlock, "pthread_rwlock_tryrdlock"),
                       site);
}

static __attribute__((noinline)) int wrlock_slow(pthread_rwlock_t *l,
                                                 struct lock_site site)
{
    return lock_rwlock(l, hook_next(&next_wrlock, "pthread_rwlock_wrlock"),
                       hook_next(&next_trywrlock, "pthread_rwlock_trywrlock"),
                       site);
}

PPROF_API OWN_WRAPPER int pthread_rwlock_rdlock(pthread_rwlock_t *l)
{
    rwlock_fn *real = hook_known(&next_rdlock);

    if (real && !lock_hooks_on())
        return real(l);
    return rdlock_slow(l, LOCK_SITE());
}

PPROF_API OWN_WRAPPER int pthread_rwlock_wrlock(pthread_rwlock_t *l)
{
    rwlock_fn *real = hook_known(&next_wrlock);

    if (real && !lock_hooks_on())
        return real(l);
    return wrlock_slow(l, LOCK_SITE());
}

typedef int timed_rwlock_fn(pthread_rwlock_t *, timeout);
typedef int clock_rwlock_fn(pthread_rwlock_t *, clockid_t, timeout);

/* A deadline that makes no sense is refused even if the lock is free. */
static bool may_try(clockid_t clock, timeout until)
{
    return lock_hooks_on() &&
           (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC) && until &&
           until->tv_nsec >= 0 && until->tv_nsec < 1000000000;
}

static int timed_rwlock(pthread_rwlock_t *l, timed_rwlock_fn *real,
                        rwlock_fn *attempt, timeout until,
                        struct lock_site site)
{
    struct lock_wait w;
    int rc = may_try(CLOCK_REALTIME, until) ? attempt(l) : EBUSY;

    if (rc != EBUSY)
        return rc;
    if (!locks_wait_begin(&w, l, site))
        return real(l, until);
    rc = real(l, until);
    locks_wait_end(&w, lock_hooks_waited(rc));
    return rc;
}

#if defined(__GLIBC__) /* others have none */
static int clock_rwlock(pthread_rwlock_t *l, clock_rwlock_fn *real,
                        rwlock_fn *attempt, clockid_t clock, timeout until,
                        struct lock_site site)
{
    struct lock_wait w;
    int rc = may_try(clock, until) ? attempt(l) : EBUSY;

    if (rc != EBUSY)
        return rc;
    if (!locks_wait_begin(&w, l, site))
        return real(l, clock, until);
    rc = real(l, clock, until);
    locks_wait_end(&w, lock_hooks_waited(rc));
    return rc;
}
#endif

PPROF_API OWN_WRAPPER int pthread_rwlock_timedrdlock(pthread_rwlock_t *l,
                                                     timeout until)
{
    static hook_slot next;

    return timed_rwlock(l, hook_next(&next, "pthread_rwlock_timedrdlock"),
                        hook_next(&next_tryrdlock, "pthread_rwlock_tryrdlock"),
                        until, LOCK_SITE());
}

PPROF_API OWN_WRAPPER int pthread_rwlock_timedwrlock(pthread_rwlock_t *l,
                                                     timeout until)
{
    static hook_slot next;

    return timed_rwlock(l, hook_next(&next, "pthread_rwlock_timedwrlock"),
                        hook_next(&next_trywrlock, "pthread_rwlock_trywrlock"),
                        until, LOCK_SITE());
}

#if defined(__GLIBC__) /* others have none */
PPROF_API OWN_WRAPPER int
pthread_rwlock_clockrdlock(pthread_rwlock_t *l, clockid_t clock, timeout until)
{
    static hook_slot next;

    return clock_rwlock(l, hook_next(&next, "pthread_rwlock_clockrdlock"),
                        hook_next(&next_tryrdlock, "pthread_rwlock_tryrdlock"),
                        clock, until, LOCK_SITE());
}

PPROF_API OWN_WRAPPER int
pthread_rwlock_clockwrlock(pthread_rwlock_t *l, clockid_t clock, timeout until)
{
    static hook_slot next;

    return clock_rwlock(l, hook_next(&next, "pthread_rwlock_clockwrlock"),
                        hook_next(&next_trywrlock, "pthread_rwlock_trywrlock"),
                        clock, until, LOCK_SITE());
}
#endif

/* How many hold it for reading, where we know the layout. */
static unsigned readers_of(const pthread_rwlock_t *l)
{
#if defined(__GLIBC__)
    return __atomic_load_n(&l->__data.__readers, __ATOMIC_RELAXED) >> 3;
#else
    (void)l;
    return 0;
#endif
}

/* Other readers still hold it: the last one of them is charged. */
static bool has_more_readers(const pthread_rwlock_t *l)
{
    return readers_are_known && readers_of(l) > 1;
}

static __attribute__((noinline)) int rwunlock_slow(pthread_rwlock_t *l,
                                                   struct lock_site site)
{
    rwlock_fn *real = hook_next(&next_rwunlock, "pthread_rwlock_unlock");
    int64_t owed = lock_hooks_has_waiters() && !has_more_readers(l)
                       ? locks_release_begin(l)
                       : 0;
    int rc = real(l);

    if (owed && rc == 0)
        locks_release_end(owed, site);
    return rc;
}

PPROF_API OWN_WRAPPER int pthread_rwlock_unlock(pthread_rwlock_t *l)
{
    rwlock_fn *real = hook_known(&next_rwunlock);

    if (real && !lock_hooks_has_waiters())
        return real(l);
    return rwunlock_slow(l, LOCK_SITE());
}

/* --- spinlocks ----------------------------------------------------------- */

static hook_slot next_spin_lock, next_spin_trylock, next_spin_unlock;

static __attribute__((noinline)) int spin_lock_slow(pthread_spinlock_t *l,
                                                    struct lock_site site)
{
    spin_fn *real = hook_next(&next_spin_lock, "pthread_spin_lock");
    spin_fn *attempt = hook_next(&next_spin_trylock, "pthread_spin_trylock");
    struct lock_wait w;
    int rc = lock_hooks_on() ? attempt(l) : EBUSY;

    if (rc != EBUSY)
        return rc;
    if (!locks_wait_begin(&w, (void *)l, site))
        return real(l);
    rc = real(l);
    locks_wait_end(&w, rc == 0);
    return rc;
}

static __attribute__((noinline)) int spin_unlock_slow(pthread_spinlock_t *l,
                                                      struct lock_site site)
{
    spin_fn *real = hook_next(&next_spin_unlock, "pthread_spin_unlock");
    int64_t owed =
        lock_hooks_has_waiters() ? locks_release_begin((void *)l) : 0;
    int rc = real(l);

    if (owed && rc == 0)
        locks_release_end(owed, site);
    return rc;
}

PPROF_API OWN_WRAPPER int pthread_spin_lock(pthread_spinlock_t *l)
{
    spin_fn *real = hook_known(&next_spin_lock);

    if (real && !lock_hooks_on())
        return real(l);
    return spin_lock_slow(l, LOCK_SITE());
}

PPROF_API OWN_WRAPPER int pthread_spin_unlock(pthread_spinlock_t *l)
{
    spin_fn *real = hook_known(&next_spin_unlock);

    if (real && !lock_hooks_has_waiters())
        return real(l);
    return spin_unlock_slow(l, LOCK_SITE());
}

/* --- start --------------------------------------------------------------- */

/* Returns true if the number of readers is where we expect it. */
static bool test_readers(void)
{
    pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
    bool ok = pthread_rwlock_rdlock(&l) == 0 && readers_of(&l) == 1 &&
              pthread_rwlock_rdlock(&l) == 0 && readers_of(&l) == 2 &&
              pthread_rwlock_unlock(&l) == 0 && pthread_rwlock_unlock(&l) == 0;

    return ok && pthread_rwlock_wrlock(&l) == 0 && readers_of(&l) == 0 &&
           pthread_rwlock_unlock(&l) == 0;
}

__attribute__((constructor(102))) static void rwlock_hooks_start(void)
{
    readers_are_known = test_readers();
}
