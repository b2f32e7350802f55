#ifndef RUNTIME_HOOK_EXEC_ENVIRONMENT_H
#define RUNTIME_HOOK_EXEC_ENVIRONMENT_H

#include <stdbool.h>

/*
 * Our part of the environment: LD_PRELOAD and the PPROF_ variables.
 *
 * Programs that this one starts shall not be profiled unless that was asked
 * for, so our part is taken out of the environment at the start.  A process
 * that replaces itself by exec is still the process to profile (wrapper scripts
 * do this often), so there it is put back.
 */

/* Keeps a copy of our part; `hide` takes it out of the environment. */
void exec_environment_keep(bool hide);

/* The environment for exec by this process: `envp` and our part, with
 * PPROF_EXECS=`execs`.  NULL: out of memory.  Async-signal-safe. */
char **exec_environment_make(char *const *envp, unsigned execs);
void exec_environment_release(char **made);

#endif
