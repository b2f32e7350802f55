#ifndef RUNTIME_API_H
#define RUNTIME_API_H

#include "base/error.h"

/*
 * What the files api_*.c share.  They hold all functions of <pprof/pprof.h>,
 * which check their arguments, call the rooms and turn errors into codes.
 */

/* Remembers the text for pprof_last_error(); returns -code. */
int api_fail(int code, const struct error *err);

/* In the child: what the parent's threads had begun is not ours. */
void api_cpu_after_fork(void);
void api_wall_after_fork(void);
void api_push_after_fork(void);

#endif
