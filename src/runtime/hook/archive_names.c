/*
 * What only the archive libpprof-hooks.a has, for programs that are linked
 * statically: names that make the linker take libc's functions, which are
 * behind our wrappers, out of libc.a (static_next.c), and names by which
 * --wrap finds our malloc (alloc_next.h).
 *
 * An undefined symbol that no code uses is looked for in archives, but not
 * missed when there is none, as in a program that is linked dynamically.  It
 * must differ from the name of the same object that static_next.c uses: that
 * one would not be weak any more.
 */
#include <stdlib.h>

#include "pprof/pprof.h"
#include "runtime/hook/alloc_next.h"
#include "runtime/own_code.h"

#if defined(__GLIBC__)

#define LINK(name) __asm__(".globl " #name)

LINK(__libc_malloc);
LINK(__pthread_create);
LINK(__pthread_mutex_lock);
LINK(__pthread_mutex_trylock);
LINK(__pthread_mutex_unlock);
LINK(__pthread_mutex_timedlock);
LINK(__pthread_rwlock_rdlock);
LINK(__pthread_rwlock_wrlock);
LINK(__pthread_rwlock_unlock);
LINK(pthread_rwlock_tryrdlock);
LINK(pthread_rwlock_trywrlock);
LINK(___pthread_rwlock_timedrdlock64);
LINK(___pthread_rwlock_timedwrlock64);
LINK(___pthread_rwlock_clockrdlock64);
LINK(___pthread_rwlock_clockwrlock64);
LINK(pthread_spin_init);
LINK(pthread_spin_trylock);
LINK(__pthread_cond_wait);
LINK(__new_sem_trywait);
LINK(___sem_timedwait64);
LINK(___sem_clockwait64);
LINK(__pthread_barrier_wait);
LINK(__pthread_join);
LINK(pthread_tryjoin_np);
LINK(___pthread_timedjoin_np64);
LINK(___pthread_clockjoin_np64);
LINK(__mtx_timedlock);
LINK(ssignal);
LINK(_ZSt20__throw_length_errorPKc);

#endif

PPROF_API OWN_WRAPPER void *__wrap_malloc(size_t size);
PPROF_API OWN_WRAPPER void __wrap_free(void *p);
PPROF_API OWN_WRAPPER void *__wrap_realloc(void *p, size_t size);

void *__wrap_malloc(size_t size)
{
    return alloc_hook_malloc(size);
}

void __wrap_free(void *p)
{
    alloc_hook_free(p);
}

void *__wrap_realloc(void *p, size_t size)
{
    return alloc_hook_realloc(p, size);
}
