#ifndef RUNTIME_STATE_H
#define RUNTIME_STATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "runtime/modules.h"

/*
 * The library's one state outside of signal handlers.
 *
 * Nothing happens before runtime_ready(): no memory, no thread, no signal
 * handler.  Only what fork must know is said when the library is loaded.
 * Everything below is guarded by `lock`, which is never held while waiting
 * for the program (a client, a sleep, a thread that shall answer).
 */
struct runtime {
    pthread_mutex_t lock;
    bool is_ready;
    struct modules modules;
    /* libc's own: the preload library wraps the name. */
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
                  void *);
    uint32_t forks; /* how often this process is a forked child */
};

extern struct runtime runtime __attribute__((visibility("hidden")));

/* Initialises on first use.  False: out of memory. */
bool runtime_ready(struct error *err);

void runtime_lock(void);
void runtime_unlock(void);

/* Wait, through signals. */
void runtime_sleep_ns(int64_t ns);

/* Threads of ours say so: they are no part of the program, and are left out
 * of its dumps and CPU profiles.  _leave before they end. */
void runtime_own_thread_enter(void);
void runtime_own_thread_leave(void);
bool runtime_is_own_thread(int tid);

/* Before threads are listed: waits until those of ours that have just been
 * started have said so, and forgets the dead. */
void runtime_own_threads_settle(void);

/* A thread of ours: named ("pprof-…"), all signals blocked, small stack, one
 * of the own ones from its first moment to its last. */
bool runtime_thread(pthread_t *out, const char *name, void *(*run)(void *),
                    void *arg, struct error *err);

#endif
