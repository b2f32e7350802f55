#ifndef RUNTIME_HEAP_KEEPER_H
#define RUNTIME_HEAP_KEEPER_H

#include <stdbool.h>

#include "base/error.h"

/*
 * The thread that serves the heap sampler.  It sleeps until a sampled stack
 * ends in code that nobody knows: then something was loaded, and it has the
 * unwind data read.  With a limit to watch (heap_limit.h) it looks at memory,
 * too, from time to time.
 */
bool heap_keeper_start(struct error *err); /* once; false: no thread */

/* In the child it lives on if the endpoint does. */
void heap_keeper_after_fork(void);

#endif
