#ifndef RUNTIME_HOOK_PLAIN_MUTEX_H
#define RUNTIME_HOOK_PLAIN_MUTEX_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>

/*
 * The plain mutex, taken and given back as libc does it, in a few
 * instructions.  For glibc, whose layout is part of every program that has a
 * mutex initialised at compile time, so it cannot change; plain_mutex_test()
 * looks all the same.  With other C libraries no mutex is plain, and all of
 * them are left to libc.
 *
 * `id` is the thread's id, 0: it is not known, and no mutex is plain for it.
 */
typedef int mutex_fn(pthread_mutex_t *);

#if defined(__GLIBC__)

#if defined(__has_include) && __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#else
static const char __libc_single_threaded;
#endif

/* A mutex that was told to be a normal one has a bit that says so; it means
 * nothing but that libc shall not change its mind. */
#define PLAIN_MUTEX_TOLD 512

static inline bool is_plain_mutex(const pthread_mutex_t *m, int id)
{
    return (m->__data.__kind & ~PLAIN_MUTEX_TOLD) == 0 && id != 0;
}

static inline bool plain_mutex_take(pthread_mutex_t *m, int id)
{
    int unlocked = 0;

    if (!is_plain_mutex(m, id))
        return false;
    if (__builtin_expect(__libc_single_threaded, 0)) {
        if (m->__data.__lock != 0)
            return false;
        m->__data.__lock = 1;
    } else if (!__atomic_compare_exchange_n(&m->__data.__lock, &unlocked, 1,
                                            false, __ATOMIC_ACQUIRE,
                                            __ATOMIC_RELAXED)) {
        return false;
    }
    m->__data.__owner = id;
    m->__data.__nusers++;
    return true;
}

/* What the word was: more than 1 when somebody may wait for it. */
static inline int plain_mutex_give(pthread_mutex_t *m)
{
    int was;

    m->__data.__owner = 0;
    m->__data.__nusers--;
    if (__builtin_expect(!__libc_single_threaded, 1))
        return __atomic_exchange_n(&m->__data.__lock, 0, __ATOMIC_RELEASE);
    was = m->__data.__lock;
    m->__data.__lock = 0;
    return was;
}

/* What its waiters sleep on. */
static inline const void *plain_mutex_word(const pthread_mutex_t *m)
{
    return &m->__data.__lock;
}

static inline bool plain_mutex_test_kind(int kind, int tid, mutex_fn *lock,
                                         mutex_fn *trylock, mutex_fn *unlock)
{
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    bool ok = m.__data.__kind == 0 && m.__data.__lock == 0;

    m.__data.__kind = kind;
    ok = ok && lock(&m) == 0 && m.__data.__lock == 1 &&
         m.__data.__owner == tid && m.__data.__nusers == 1 &&
         m.__data.__kind == kind;
    ok = ok && trylock(&m) == EBUSY && unlock(&m) == 0 &&
         m.__data.__lock == 0 && m.__data.__owner == 0 &&
         m.__data.__nusers == 0;
    m.__data.__lock = 1;
    ok = ok && trylock(&m) == EBUSY;
    m.__data.__lock = 0;
    return ok && trylock(&m) == 0 && m.__data.__lock == 1 && unlock(&m) == 0;
}

/* Returns true if libc changes a plain mutex in the same way as we do. */
static inline bool plain_mutex_test(int tid, mutex_fn *lock, mutex_fn *trylock,
                                    mutex_fn *unlock)
{
    return plain_mutex_test_kind(0, tid, lock, trylock, unlock) &&
           plain_mutex_test_kind(PLAIN_MUTEX_TOLD, tid, lock, trylock, unlock);
}

#else

static inline bool is_plain_mutex(const pthread_mutex_t *m, int id)
{
    (void)m, (void)id;
    return false;
}

static inline bool plain_mutex_take(pthread_mutex_t *m, int id)
{
    (void)m, (void)id;
    return false;
}

static inline int plain_mutex_give(pthread_mutex_t *m)
{
    (void)m;
    return 0;
}

static inline const void *plain_mutex_word(const pthread_mutex_t *m)
{
    return m;
}

static inline bool plain_mutex_test(int tid, mutex_fn *lock, mutex_fn *trylock,
                                    mutex_fn *unlock)
{
    (void)tid, (void)lock, (void)trylock, (void)unlock;
    return false;
}

#endif

#endif
