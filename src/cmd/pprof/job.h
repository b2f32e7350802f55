#ifndef CMD_PPROF_JOB_H
#define CMD_PPROF_JOB_H

#include "cmd/pprof/shell_line.h"
#include "profile/profile.h"

/*
 * A report of the shell, made in a process of its own.
 *
 * The child has a copy of the profile that costs nothing until it is
 * changed, and whatever ends it (Ctrl-C, a closed pager, lack of memory)
 * leaves the shell as it was.
 */

/* Makes the report and waits for it; reports errors.  `viewed` is the file for
 * a viewer, or NULL. */
void job_run(const struct profile *p, const struct shell_command *command,
             struct str tools, const char *viewed);

#endif
