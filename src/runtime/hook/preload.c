/*
 * libpprof-preload.so: libpprof with all its hooks, for a program that is not
 * changed.  Environment variables configure it.
 */
#include <stdlib.h>
#include <unistd.h>

#include "pprof/pprof.h"
#include "runtime/hook/env.h"
#include "runtime/own_code.h"
#include "runtime/rawcall.h"

__attribute__((constructor)) static void preload_start(void)
{
    env_start();
}

__attribute__((destructor)) static void preload_stop(void)
{
    env_stop();
}

/* No destructor runs then. */
PPROF_API OWN_WRAPPER void _exit(int status)
{
    env_exit();
    for (;;)
        raw_call4(SYS_exit_group, status, 0, 0, 0);
}

PPROF_API OWN_WRAPPER void _Exit(int status)
{
    _exit(status);
}
