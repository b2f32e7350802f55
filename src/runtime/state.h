#ifndef RUNTIME_STATE_H
#define RUNTIME_STATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "runtime/unwind/code_copies.h"
#include "runtime/unwind/modules.h"

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
    struct code_copies copies;
    /* libc's own: the preload library wraps the name. */
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
                  void *);
    bool sees_thread_starts; /* pthread_create is wrapped */
    uint32_t forks;          /* how often this process is a forked child */
};

extern struct runtime runtime __attribute__((visibility("hidden")));

/* Initialises on first use.  False: out of memory. */
bool runtime_ready(struct error *err);

void runtime_lock(void);
void runtime_unlock(void);

/* Wait, through signals. */
void runtime_sleep_ns(int64_t ns);

#endif
