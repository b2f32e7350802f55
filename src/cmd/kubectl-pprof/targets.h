#ifndef CMD_KUBECTL_PPROF_TARGETS_H
#define CMD_KUBECTL_PPROF_TARGETS_H

#include "cmd/kubectl-pprof/session.h"

/* A table of the pods: where each has its profiles, or why it has none. */
int targets_list(struct session *s);

/* `preset`, `preset list`: all of them; `preset NAME`: one in full. */
int targets_presets(struct session *s);

#endif
