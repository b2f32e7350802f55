#ifndef CMD_PPROF_SHELL_H
#define CMD_PPROF_SHELL_H

#include "profile/profile.h"
#include "report/config.h"

/*
 * The interactive shell: reads commands until the end of input or "quit".
 *
 * At a terminal lines are edited, remembered and completed, Ctrl-C ends the
 * report that is being made and not the shell, and "| program" takes the
 * report.  From a pipe it behaves as google/pprof does (no prompt; a pipe
 * sign is a word like any other), so that scripts mean the same.  `tools` is
 * the -tools flag.
 */
void shell_run(const struct profile *p, const struct report_config *config,
               struct str tools);

#endif
