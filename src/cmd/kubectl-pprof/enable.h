#ifndef CMD_KUBECTL_PPROF_ENABLE_H
#define CMD_KUBECTL_PPROF_ENABLE_H

#include "cmd/kubectl-pprof/session.h"

/*
 * Switches profiling of a workload's pods on and off: annotations for
 * collectors, certificates (--mtls), the preload library (--native), pushed
 * profiles (--push); kube/workload.h has the details.
 *
 * Both ask the API server first whether it would accept the change (a
 * server-side dry run), show it, and ask the user unless --yes was given.
 */
int enable_run(struct session *s);
int disable_run(struct session *s);

#endif
