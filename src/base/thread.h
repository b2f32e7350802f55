#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Starts a named thread with every signal blocked, so that no handler of the
 * program ever runs in it (but see below).  Returns 0, or the error number of
 * pthread_create.
 */
int thread_start(pthread_t *out, const char *name, size_t stack_bytes,
                 void *(*run)(void *), void *arg);

/*
 * Threads started from now on take SIGPROF and SIGTRAP, with which a profiler
 * samples.  For a program that profiles itself; never for a library.
 */
void thread_admit_profiler(void);

#endif
