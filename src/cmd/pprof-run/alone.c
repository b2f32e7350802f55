/*
 * pprof-run in a build of the runtime alone (-Druntime_only=true), which has
 * no code that reads profiles: it neither merges those of several processes
 * nor serves a process tree.
 */
#include <stddef.h>
#include <stdlib.h>

#include "cmd/pprof-run/merge_run.h"
#include "cmd/pprof-run/tree_server.h"

#define WITHOUT                                                                \
    "this pprof-run was built without it (runtime_only); use the one of a "    \
    "full build"

struct merge_run *merge_run_new(struct error *err)
{
    error_set(err, "-merge: " WITHOUT);
    return NULL;
}

int merge_run_wait(struct merge_run *m, char **argv)
{
    (void)m;
    (void)argv;
    return 0;
}

void merge_run_free(struct merge_run *m)
{
    (void)m;
}

void merge_run_end_like(int status)
{
    exit(status);
}

bool tree_server_start(const char *program, struct error *err)
{
    (void)program;
    return error_set(err, "-addr with -children: " WITHOUT);
}
