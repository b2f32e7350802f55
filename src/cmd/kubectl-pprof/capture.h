#ifndef CMD_KUBECTL_PPROF_CAPTURE_H
#define CMD_KUBECTL_PPROF_CAPTURE_H

#include "cmd/kubectl-pprof/session.h"

/*
 * Profiles of many pods into files or to a collector, a line for each pod.
 * What was captured before Ctrl-C stays.
 */
int capture_run(struct session *s);

#endif
