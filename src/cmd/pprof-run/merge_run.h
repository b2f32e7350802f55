#ifndef CMD_PPROF_RUN_MERGE_RUN_H
#define CMD_PPROF_RUN_MERGE_RUN_H

#include "base/error.h"

/*
 * Runs a program and merges the profiles of all its processes: one file for
 * each kind of profile, under the name that the user gave.
 *
 * pprof-run stays the parent here, because it has to wait for the last process,
 * daemons included.  Signals that are sent to pprof-run are passed on to the
 * program; the processes write into a directory that is removed at the end.
 */
struct merge_run;

/* Changes the environment: the names of files lead to that directory. */
struct merge_run *merge_run_new(struct error *err);

/* Runs the program, waits for all processes and merges.  Returns the wait
 * status of the program. */
int merge_run_wait(struct merge_run *m, char **argv);

void merge_run_free(struct merge_run *m);

/* Ends pprof-run as the program has ended: with its exit code, or by the
 * same signal. */
_Noreturn void merge_run_end_like(int status);

#endif
