#ifndef RUNTIME_HEAP_HEAP_LIMIT_THREAD_H
#define RUNTIME_HEAP_HEAP_LIMIT_THREAD_H

#include <stdbool.h>

#include "base/error.h"

/*
 * The thread that watches the memory limit (heap_limit.h); there is none
 * where there is nothing to watch.
 */
bool heap_limit_thread_start(struct error *err); /* once; false: no thread */

/* In the child: it is started again if it was running and lives on. */
void heap_limit_thread_after_fork(bool lives_on);

#endif
