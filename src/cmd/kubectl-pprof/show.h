#ifndef CMD_KUBECTL_PPROF_SHOW_H
#define CMD_KUBECTL_PPROF_SHOW_H

#include "cmd/kubectl-pprof/session.h"

/* Commands that end in a report or the page of pprof.  Exit codes. */
int show_top(struct session *s);
int show_flame(struct session *s);
int show_web(struct session *s);
int show_diff(struct session *s);

#endif
