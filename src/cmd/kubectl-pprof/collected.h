#ifndef CMD_KUBECTL_PPROF_COLLECTED_H
#define CMD_KUBECTL_PPROF_COLLECTED_H

#include "cmd/kubectl-pprof/session.h"

/* `get services|profiles|types` and `load FILE...`, as kubectl-profefe has
 * them. */
int collected_get(struct session *s);
int collected_load(struct session *s);

#endif
