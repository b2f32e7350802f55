/*
 * Condition variables of programs that were linked before 2003 (x86-64 only):
 * the same names in an older version, with another layout.  They must not
 * reach the functions of the new one, and are let through as they are.
 *
 * Only in the shared libraries: versions need a version script.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "pprof/pprof.h"
#include "runtime/own_code.h"

typedef int wait_fn(void *, pthread_mutex_t *);
typedef int timedwait_fn(void *, pthread_mutex_t *, const struct timespec *);

PPROF_API OWN_WRAPPER wait_fn cond_old_wait;
PPROF_API OWN_WRAPPER timedwait_fn cond_old_timedwait;

__asm__(".symver cond_old_wait, pthread_cond_wait@GLIBC_2.2.5, remove");
__asm__(
    ".symver cond_old_timedwait, pthread_cond_timedwait@GLIBC_2.2.5, remove");

static void *find(_Atomic(void *) *slot, const char *name)
{
    void *fn = atomic_load_explicit(slot, memory_order_relaxed);

    if (!fn) {
        fn = dlvsym(RTLD_NEXT, name, "GLIBC_2.2.5");
        atomic_store_explicit(slot, fn, memory_order_relaxed);
    }
    return fn;
}

int cond_old_wait(void *cond, pthread_mutex_t *m)
{
    static _Atomic(void *) next;
    wait_fn *real = find(&next, "pthread_cond_wait");

    return real ? real(cond, m) : ENOSYS;
}

int cond_old_timedwait(void *cond, pthread_mutex_t *m,
                       const struct timespec *until)
{
    static _Atomic(void *) next;
    timedwait_fn *real = find(&next, "pthread_cond_timedwait");

    return real ? real(cond, m, until) : ENOSYS;
}
