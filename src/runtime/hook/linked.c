/*
 * libpprof-hooks: who links it wants heap profiles from the first moment on.
 * (The preload library asks the environment first, env.c.)
 */
#include "runtime/heap/heap.h"

__attribute__((constructor)) static void linked_start(void)
{
    struct error err;

    heap_start(&err); /* without memory there is no profile */
}
