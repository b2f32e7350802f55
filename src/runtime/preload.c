/*
 * libpprof-preload.so: libpprof with all its hooks, for a program that nobody
 * wants to change.  The environment says what it shall do.
 */
#include "runtime/env.h"

__attribute__((constructor)) static void preload_start(void)
{
    env_start();
}

__attribute__((destructor)) static void preload_stop(void)
{
    env_stop();
}
