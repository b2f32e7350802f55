/*
 * The names here are weak: NULL unless the linker has put libc's object into
 * the program.  archive_names.c, which is only in the archive, makes it do so.
 */
#include "runtime/hook/static_next.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#define DECLARE(public, alias)                                                 \
    extern char alias[] __attribute__((weak, visibility("hidden")));
#define ENTRY(public, alias) {#public, alias},

#if defined(__GLIBC__)

#define FUNCTIONS(X)                                                           \
    X(malloc, __malloc)                                                        \
    X(free, __free)                                                            \
    X(calloc, __calloc)                                                        \
    X(realloc, __realloc)                                                      \
    X(memalign, __memalign)                                                    \
    X(aligned_alloc, __memalign)                                               \
    X(posix_memalign, __posix_memalign)                                        \
    X(valloc, __valloc)                                                        \
    X(pvalloc, __pvalloc)                                                      \
    X(malloc_usable_size, __malloc_usable_size)                                \
    X(pthread_create, __pthread_create_2_1)                                    \
    X(pthread_mutex_lock, ___pthread_mutex_lock)                               \
    X(pthread_mutex_trylock, ___pthread_mutex_trylock)                         \
    X(pthread_mutex_unlock, ___pthread_mutex_unlock)                           \
    X(pthread_mutex_timedlock, ___pthread_mutex_timedlock)                     \
    X(pthread_mutex_clocklock, ___pthread_mutex_clocklock)                     \
    X(pthread_rwlock_rdlock, ___pthread_rwlock_rdlock)                         \
    X(pthread_rwlock_wrlock, ___pthread_rwlock_wrlock)                         \
    X(pthread_rwlock_unlock, ___pthread_rwlock_unlock)                         \
    X(pthread_rwlock_tryrdlock, ___pthread_rwlock_tryrdlock)                   \
    X(pthread_rwlock_trywrlock, ___pthread_rwlock_trywrlock)                   \
    X(pthread_rwlock_timedrdlock, ___pthread_rwlock_timedrdlock)               \
    X(pthread_rwlock_timedwrlock, ___pthread_rwlock_timedwrlock)               \
    X(pthread_rwlock_clockrdlock, ___pthread_rwlock_clockrdlock)               \
    X(pthread_rwlock_clockwrlock, ___pthread_rwlock_clockwrlock)               \
    X(pthread_spin_trylock, __pthread_spin_trylock)                            \
    X(pthread_spin_unlock, __pthread_spin_unlock)                              \
    X(pthread_cond_wait, ___pthread_cond_wait)                                 \
    X(pthread_cond_timedwait, ___pthread_cond_timedwait)                       \
    X(pthread_cond_clockwait, ___pthread_cond_clockwait)                       \
    X(sem_wait, __new_sem_wait)                                                \
    X(sem_timedwait, ___sem_timedwait)                                         \
    X(sem_clockwait, ___sem_clockwait)                                         \
    X(pthread_barrier_wait, ___pthread_barrier_wait)                           \
    X(pthread_join, ___pthread_join)                                           \
    X(pthread_tryjoin_np, __pthread_tryjoin_np)                                \
    X(pthread_timedjoin_np, ___pthread_timedjoin_np)                           \
    X(pthread_clockjoin_np, ___pthread_clockjoin_np)                           \
    X(mtx_timedlock, ___mtx_timedlock)                                         \
    X(sigaction, __sigaction)                                                  \
    X(signal, __bsd_signal)

#else /* other C libraries have one name for most of them */

#define FUNCTIONS(X)

#endif

struct function {
    const char *name;
    void *address;
};

FUNCTIONS(DECLARE)

/* The linker's word for a wrapped function. */
extern char __real_malloc[] __attribute__((weak, visibility("hidden")));

typedef void handler_fn(void);

handler_fn *_ZSt15get_new_handlerv(void)
    __attribute__((weak, visibility("hidden"))); /* std::get_new_handler */
void _ZSt17__throw_bad_allocv(void)
    __attribute__((weak, visibility("hidden"))); /* std::__throw_bad_alloc */

/* What libc.a has under one name only. */
static int spin_lock(pthread_spinlock_t *lock)
{
    while (pthread_spin_trylock(lock) != 0)
        sched_yield();
    return 0;
}

static int close_nothing(void *library)
{
    (void)library;
    return 0;
}

bool static_next_is_needed(void)
{
    return static_next("malloc") != NULL;
}

void *static_next(const char *name)
{
    static const struct function all[] = {FUNCTIONS(ENTRY){NULL, NULL}};

    if (strcmp(name, "pthread_spin_lock") == 0 && static_next_is_needed())
        return (void *)spin_lock;
    if (strcmp(name, "dlclose") == 0 && static_next_is_needed())
        return (void *)close_nothing;
    for (const struct function *f = all; f->name; f++)
        if (strcmp(f->name, name) == 0)
            return f->address;
    return NULL;
}

bool static_next_malloc_is_wrapped(void)
{
    return __real_malloc != NULL;
}

bool static_next_new_failed(bool may_throw)
{
    handler_fn *handler =
        _ZSt15get_new_handlerv ? _ZSt15get_new_handlerv() : NULL;

    if (handler) {
        handler(); /* frees memory, throws, or ends the program */
        return true;
    }
    if (may_throw && _ZSt17__throw_bad_allocv)
        _ZSt17__throw_bad_allocv();
    return false;
}
