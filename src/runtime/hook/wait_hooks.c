/*
 * Wrappers of calls that wait for another thread but hold nothing: condition
 * variables, semaphores, barriers, joins, and the C11 names of them.
 *
 * Most of these are cancellation points.  A thread that is cancelled in one
 * leaves through our frame, which has nothing to clean up: the wait is just
 * not recorded.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>

#include "pprof/pprof.h"
#include "runtime/hook/hook_next.h"
#include "runtime/hook/lock_hooks.h"
#include "runtime/lock/locks.h"
#include "runtime/own_code.h"

static bool value_is_known;

/* --- condition variables ------------------------------------------------- */

typedef int cond_fn(pthread_cond_t *, pthread_mutex_t *);
typedef int timed_cond_fn(pthread_cond_t *, pthread_mutex_t *, timeout);
typedef int clock_cond_fn(pthread_cond_t *, pthread_mutex_t *, clockid_t,
                          timeout);

static int wait_cond(cond_fn *real, pthread_cond_t *c, pthread_mutex_t *m,
                     struct lock_site site)
{
    struct lock_wait w;
    int rc;

    if (!locks_wait_begin(&w, NULL, site))
        return real(c, m);
    lock_hooks_before_wait(m, site);
    rc = real(c, m);
    locks_wait_end(&w, lock_hooks_waited(rc));
    return rc;
}

static int timedwait_cond(timed_cond_fn *real, pthread_cond_t *c,
                          pthread_mutex_t *m, timeout until,
                          struct lock_site site)
{
    struct lock_wait w;
    int rc;

    if (!locks_wait_begin(&w, NULL, site))
        return real(c, m, until);
    lock_hooks_before_wait(m, site);
    rc = real(c, m, until);
    locks_wait_end(&w, lock_hooks_waited(rc));
    return rc;
}

PPROF_API OWN_WRAPPER int pthread_cond_wait(pthread_cond_t *c,
                                            pthread_mutex_t *m)
{
    static hook_slot next;

    return wait_cond(hook_next(&next, "pthread_cond_wait"), c, m, LOCK_SITE());
}

PPROF_API OWN_WRAPPER int
pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, timeout until)
{
    static hook_slot next;

    return timedwait_cond(hook_next(&next, "pthread_cond_timedwait"), c, m,
                          until, LOCK_SITE());
}

#if defined(__GLIBC__) /* others have none */
PPROF_API OWN_WRAPPER int pthread_cond_clockwait(pthread_cond_t *c,
                                                 pthread_mutex_t *m,
                                                 clockid_t clock, timeout until)
{
    static hook_slot next;
    clock_cond_fn *real = hook_next(&next, "pthread_cond_clockwait");
    struct lock_site site = LOCK_SITE();
    struct lock_wait w;
    int rc;

    if (!locks_wait_begin(&w, NULL, site))
        return real(c, m, clock, until);
    lock_hooks_before_wait(m, site);
    rc = real(c, m, clock, until);
    locks_wait_end(&w, lock_hooks_waited(rc));
    return rc;
}
#endif

PPROF_API OWN_WRAPPER int cnd_wait(cnd_t *c, mtx_t *m)
{
    static hook_slot next;

    return lock_hooks_c11(wait_cond(hook_next(&next, "pthread_cond_wait"),
                                    (pthread_cond_t *)c, (pthread_mutex_t *)m,
                                    LOCK_SITE()));
}

PPROF_API OWN_WRAPPER int cnd_timedwait(cnd_t *restrict c, mtx_t *restrict m,
                                        const struct timespec *restrict until)
{
    static hook_slot next;

    return lock_hooks_c11(timedwait_cond(
        hook_next(&next, "pthread_cond_timedwait"), (pthread_cond_t *)c,
        (pthread_mutex_t *)m, until, LOCK_SITE()));
}

/* --- semaphores ---------------------------------------------------------- */

/* It is available at once, or the wait is not recorded. */
static inline bool has_value(sem_t *s)
{
    return !lock_hooks_on() ||
           (value_is_known &&
            __atomic_load_n((unsigned *)s, __ATOMIC_RELAXED) > 0);
}

static bool sem_waited(int rc)
{
    return rc == 0 || errno == ETIMEDOUT || errno == EINTR;
}

static hook_slot next_sem_wait;

static __attribute__((noinline)) int sem_wait_slow(sem_t *s,
                                                   struct lock_site site)
{
    int (*real)(sem_t *) = hook_next(&next_sem_wait, "sem_wait");
    struct lock_wait w;
    int rc;

    if (!locks_wait_begin(&w, NULL, site))
        return real(s);
    rc = real(s);
    locks_wait_end(&w, sem_waited(rc));
    return rc;
}

PPROF_API OWN_WRAPPER int sem_wait(sem_t *s)
{
    int (*real)(sem_t *) = hook_known(&next_sem_wait);

    if (real && has_value(s))
        return real(s);
    return sem_wait_slow(s, LOCK_SITE());
}

PPROF_API OWN_WRAPPER int sem_timedwait(sem_t *restrict s,
                                        const struct timespec *restrict until)
{
    static hook_slot next;
    int (*real)(sem_t *, timeout) = hook_next(&next, "sem_timedwait");
    struct lock_wait w;
    int rc;

    if (has_value(s) || !locks_wait_begin(&w, NULL, LOCK_SITE()))
        return real(s, until);
    rc = real(s, until);
    locks_wait_end(&w, sem_waited(rc));
    return rc;
}

#if defined(__GLIBC__) /* others have none */
PPROF_API OWN_WRAPPER int sem_clockwait(sem_t *restrict s, clockid_t clock,
                                        const struct timespec *restrict until)
{
    static hook_slot next;
    int (*real)(sem_t *, clockid_t, timeout) =
        hook_next(&next, "sem_clockwait");
    struct lock_wait w;
    int rc;

    if (has_value(s) || !locks_wait_begin(&w, NULL, LOCK_SITE()))
        return real(s, clock, until);
    rc = real(s, clock, until);
    locks_wait_end(&w, sem_waited(rc));
    return rc;
}
#endif

/* --- barriers ------------------------------------------------------------ */

PPROF_API OWN_WRAPPER int pthread_barrier_wait(pthread_barrier_t *b)
{
    static hook_slot next;
    int (*real)(pthread_barrier_t *) = hook_next(&next, "pthread_barrier_wait");
    struct lock_wait w;
    int rc;

    if (!locks_wait_begin(&w, NULL, LOCK_SITE()))
        return real(b);
    rc = real(b);
    locks_wait_end(&w, rc == 0 || rc == PTHREAD_BARRIER_SERIAL_THREAD);
    return rc;
}

/* --- joins ---------------------------------------------------------------- */

/* A thread that has ended is not waited for; libc's own is no cancellation
 * point then, either. */
static int join(pthread_t thread, void **result, struct lock_site site)
{
    static hook_slot next, next_try;
    int (*real)(pthread_t, void **) = hook_next(&next, "pthread_join");
    int (*attempt)(pthread_t, void **) =
        hook_next(&next_try, "pthread_tryjoin_np");
    struct lock_wait w;
    int rc = lock_hooks_on() ? attempt(thread, result) : EBUSY;

    if (rc != EBUSY)
        return rc;
    if (!locks_wait_begin(&w, NULL, site))
        return real(thread, result);
    rc = real(thread, result);
    locks_wait_end(&w, rc == 0);
    return rc;
}

PPROF_API OWN_WRAPPER int pthread_join(pthread_t thread, void **result)
{
    return join(thread, result, LOCK_SITE());
}

PPROF_API OWN_WRAPPER int thrd_join(thrd_t thread, int *result)
{
    void *value;
    int rc = join(thread, &value, LOCK_SITE());

    if (rc == 0 && result)
        *result = (int)(intptr_t)value;
    return lock_hooks_c11(rc);
}

PPROF_API OWN_WRAPPER int pthread_timedjoin_np(pthread_t thread, void **result,
                                               timeout until)
{
    static hook_slot next;
    int (*real)(pthread_t, void **, timeout) =
        hook_next(&next, "pthread_timedjoin_np");
    struct lock_wait w;
    int rc;

    if (!locks_wait_begin(&w, NULL, LOCK_SITE()))
        return real(thread, result, until);
    rc = real(thread, result, until);
    locks_wait_end(&w, lock_hooks_waited(rc));
    return rc;
}

#if defined(__GLIBC__) /* others have none */
PPROF_API OWN_WRAPPER int pthread_clockjoin_np(pthread_t thread, void **result,
                                               clockid_t clock, timeout until)
{
    static hook_slot next;
    int (*real)(pthread_t, void **, clockid_t, timeout) =
        hook_next(&next, "pthread_clockjoin_np");
    struct lock_wait w;
    int rc;

    if (!locks_wait_begin(&w, NULL, LOCK_SITE()))
        return real(thread, result, clock, until);
    rc = real(thread, result, clock, until);
    locks_wait_end(&w, lock_hooks_waited(rc));
    return rc;
}
#endif

/* --- start --------------------------------------------------------------- */

/* Checks that a semaphore's value is its first word. */
__attribute__((constructor(102))) static void wait_hooks_start(void)
{
    unsigned *value;
    sem_t s;

    if (sem_init(&s, 0, 5) != 0)
        return;
    value = (unsigned *)&s;
    value_is_known = *value == 5 && sem_trywait(&s) == 0 && *value == 4 &&
                     sem_post(&s) == 0 && *value == 5;
    sem_destroy(&s);
}
