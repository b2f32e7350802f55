#ifndef CMD_PPROF_PROGRAM_H
#define CMD_PPROF_PROGRAM_H

/*
 * All that `pprof ARGUMENTS` does: reads profiles, makes a report, runs the
 * shell or serves the page.  Returns the exit code.  kubectl-pprof ends here,
 * too, with profiles that it has brought from a cluster.
 */
int program_run(int argc, char *const *argv);

#endif
