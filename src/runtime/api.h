#ifndef RUNTIME_API_H
#define RUNTIME_API_H

#include "base/error.h"

/* Remembers the words for pprof_last_error(); -code. */
int api_fail(int code, const struct error *err);

/* In the child: what the parent's threads had begun is not ours. */
void api_after_fork(void);

#endif
