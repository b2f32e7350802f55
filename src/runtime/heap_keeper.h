#ifndef RUNTIME_HEAP_KEEPER_H
#define RUNTIME_HEAP_KEEPER_H

#include <stdbool.h>

#include "base/error.h"

/*
 * The thread that watches the memory limit (heap_limit.h); there is none
 * where there is nothing to watch.
 */
bool heap_keeper_start(struct error *err); /* once; false: no thread */

/* In the child it lives on if the endpoint does. */
void heap_keeper_after_fork(void);

#endif
