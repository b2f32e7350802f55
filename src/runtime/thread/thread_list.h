#ifndef RUNTIME_THREAD_THREAD_LIST_H
#define RUNTIME_THREAD_THREAD_LIST_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Calls `each` for every thread of the process, ours among them; false: /proc
 * is not there.  Returning false from `each` ends it. */
bool threads_each(bool (*each)(void *ctx, int tid), void *ctx);

/* A number that changes when threads start or end, mostly; one system call.
 * 0: not known. */
uint64_t threads_change(void);

#endif
