#ifndef CMD_KUBECTL_PPROF_TEXT_H
#define CMD_KUBECTL_PPROF_TEXT_H

#include "cmd/kubectl-pprof/session.h"

/* The stacks of all goroutines or threads, as the pods print them. */
int text_dump(struct session *s);

/* A Go execution trace into a file, for `go tool trace`. */
int text_trace(struct session *s);

#endif
