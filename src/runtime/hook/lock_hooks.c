/*
 * Wrappers of mutexes, and of their C11 names.
 *
 * A lock that is free costs what it costs without us: a plain mutex is taken
 * as libc does it (plain_mutex.h).  Other kinds are tried first and waited
 * for, with a look at the clock, only when that fails.
 *
 * All of it is right at any time: before our constructor ran, in a forked
 * child, in a thread of ours, in a signal handler as far as libc's own is.
 */
#include "runtime/hook/lock_hooks.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <threads.h>

#include "pprof/pprof.h"
#include "runtime/hook/hook_next.h"
#include "runtime/hook/plain_mutex.h"
#include "runtime/lock/locks.h"
#include "runtime/own_code.h"
#include "runtime/rawcall.h"

/* Until they are found: the first call finds them. */
static mutex_fn first_lock, first_trylock, first_unlock;
static mutex_fn *next_lock = first_lock;
static mutex_fn *next_trylock = first_trylock;
static mutex_fn *next_unlock = first_unlock;

static void find_mutex(void)
{
    static hook_slot lock, trylock, unlock;

    next_lock = hook_next(&lock, "pthread_mutex_lock");
    next_trylock = hook_next(&trylock, "pthread_mutex_trylock");
    next_unlock = hook_next(&unlock, "pthread_mutex_unlock");
}

static int first_lock(pthread_mutex_t *m)
{
    find_mutex();
    return next_lock(m);
}

static int first_trylock(pthread_mutex_t *m)
{
    find_mutex();
    return next_trylock(m);
}

static int first_unlock(pthread_mutex_t *m)
{
    find_mutex();
    return next_unlock(m);
}

static bool layout_is_known;

/* This thread's id for a mutex's owner field; 0: not known yet, or the
 * layout is not. */
static __thread int owner_id __attribute__((tls_model("initial-exec")));

static void learn_owner_id(void)
{
    if (layout_is_known && owner_id == 0)
        owner_id = raw_gettid();
}

/* --- mutexes ------------------------------------------------------------ */

static __attribute__((noinline)) int lock_slow(pthread_mutex_t *m,
                                               struct lock_site site)
{
    struct lock_wait w;
    int rc;

    learn_owner_id();
    if (!lock_hooks_on())
        return next_lock(m);
    rc = next_trylock(m);
    if (rc != EBUSY)
        return rc;
    if (!locks_wait_begin(&w, m, site))
        return next_lock(m);
    rc = next_lock(m);
    locks_wait_end(&w, lock_hooks_waited(rc));
    return rc;
}

static __attribute__((noinline)) int unlock_slow(pthread_mutex_t *m,
                                                 struct lock_site site)
{
    int64_t owed;
    int rc;

    learn_owner_id();
    owed = lock_hooks_has_waiters() ? locks_release_begin(m) : 0;
    rc = next_unlock(m);
    if (owed && rc == 0)
        locks_release_end(owed, site);
    return rc;
}

/* It is free already, and the mutex may be gone by now: only its address is
 * used, as libc does it. */
static __attribute__((noinline)) int wake_waiter(pthread_mutex_t *m,
                                                 struct lock_site site)
{
    int64_t owed = lock_hooks_has_waiters() ? locks_release_begin(m) : 0;

    raw_call4(SYS_futex, (long)plain_mutex_word(m), FUTEX_WAKE_PRIVATE, 1, 0);
    if (owed)
        locks_release_end(owed, site);
    return 0;
}

/* Mutexes of another kind, and what there is to do first: nothing. */
static inline bool may_pass_lock(void)
{
    return owner_id != 0 && !lock_hooks_on();
}

static inline bool may_pass_unlock(void)
{
    return owner_id != 0 && !lock_hooks_has_waiters();
}

PPROF_API OWN_WRAPPER int pthread_mutex_lock(pthread_mutex_t *m)
{
    if (plain_mutex_take(m, owner_id))
        return 0;
    if (may_pass_lock())
        return next_lock(m);
    return lock_slow(m, LOCK_SITE());
}

PPROF_API OWN_WRAPPER int pthread_mutex_unlock(pthread_mutex_t *m)
{
    if (is_plain_mutex(m, owner_id)) {
        if (__builtin_expect(plain_mutex_give(m) <= 1, 1))
            return 0;
        return wake_waiter(m, LOCK_SITE());
    }
    if (may_pass_unlock())
        return next_unlock(m);
    return unlock_slow(m, LOCK_SITE());
}

void lock_hooks_before_wait(pthread_mutex_t *m, struct lock_site site)
{
    int64_t owed = lock_hooks_has_waiters() ? locks_release_begin(m) : 0;

    if (owed)
        locks_release_end(owed, site);
}

PPROF_API OWN_WRAPPER int pthread_mutex_timedlock(pthread_mutex_t *m,
                                                  timeout until)
{
    static hook_slot next;
    int (*real)(pthread_mutex_t *, timeout) =
        hook_next(&next, "pthread_mutex_timedlock");
    struct lock_wait w;
    int rc;

    if (plain_mutex_take(m, owner_id))
        return 0;
    if (!lock_hooks_on())
        return real(m, until);
    rc = next_trylock(m);
    if (rc != EBUSY || !locks_wait_begin(&w, m, LOCK_SITE()))
        return rc != EBUSY ? rc : real(m, until);
    rc = real(m, until);
    locks_wait_end(&w, lock_hooks_waited(rc));
    return rc;
}

#if defined(__GLIBC__) /* others have none */
PPROF_API OWN_WRAPPER int
pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock, timeout until)
{
    static hook_slot next;
    int (*real)(pthread_mutex_t *, clockid_t, timeout) =
        hook_next(&next, "pthread_mutex_clocklock");
    struct lock_wait w;
    int rc;

    /* A clock that it does not know is refused even if the lock is free. */
    if (!lock_hooks_on() ||
        (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC))
        return real(m, clock, until);
    rc = next_trylock(m);
    if (rc != EBUSY || !locks_wait_begin(&w, m, LOCK_SITE()))
        return rc != EBUSY ? rc : real(m, clock, until);
    rc = real(m, clock, until);
    locks_wait_end(&w, lock_hooks_waited(rc));
    return rc;
}
#endif

/* --- C11: libc's call the mutex functions behind our back ---------------- */

_Static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t), "mtx_t is a mutex");

int lock_hooks_c11(int rc)
{
    switch (rc) {
    case 0:
        return thrd_success;
    case ENOMEM:
        return thrd_nomem;
    case ETIMEDOUT:
        return thrd_timedout;
    case EBUSY:
        return thrd_busy;
    default:
        return thrd_error;
    }
}

PPROF_API OWN_WRAPPER int mtx_lock(mtx_t *mutex)
{
    pthread_mutex_t *m = (pthread_mutex_t *)mutex;

    if (plain_mutex_take(m, owner_id))
        return thrd_success;
    return lock_hooks_c11(lock_slow(m, LOCK_SITE()));
}

PPROF_API OWN_WRAPPER int mtx_unlock(mtx_t *mutex)
{
    pthread_mutex_t *m = (pthread_mutex_t *)mutex;

    if (is_plain_mutex(m, owner_id)) {
        if (__builtin_expect(plain_mutex_give(m) <= 1, 1))
            return thrd_success;
        return wake_waiter(m, LOCK_SITE()); /* thrd_success is 0 */
    }
    return lock_hooks_c11(unlock_slow(m, LOCK_SITE()));
}

PPROF_API OWN_WRAPPER int mtx_timedlock(mtx_t *mutex, timeout until)
{
    static hook_slot next;
    int (*real)(mtx_t *, timeout) = hook_next(&next, "mtx_timedlock");
    pthread_mutex_t *m = (pthread_mutex_t *)mutex;
    struct lock_wait w;
    int rc;

    if (!lock_hooks_on())
        return real(mutex, until);
    rc = next_trylock(m);
    if (rc != EBUSY)
        return lock_hooks_c11(rc);
    if (!locks_wait_begin(&w, m, LOCK_SITE()))
        return real(mutex, until);
    rc = real(mutex, until);
    locks_wait_end(&w, rc == thrd_success || rc == thrd_timedout);
    return rc;
}

/* --- start --------------------------------------------------------------- */

static void in_child(void)
{
    owner_id = 0;
}

/* Before what asks for profiles, which may start threads. */
__attribute__((constructor(102))) static void lock_hooks_start(void)
{
    find_mutex();
    layout_is_known =
        pthread_atfork(NULL, NULL, in_child) == 0 &&
        plain_mutex_test(raw_gettid(), next_lock, next_trylock, next_unlock);
    lock_watch.has_hooks = true;
}
