#ifndef RUNTIME_SERVE_H
#define RUNTIME_SERVE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/*
 * The endpoint on a socket of its own.  One per process.
 *
 * An address beyond this machine is refused unless `insecure` says that
 * everybody who can reach it may look.  On success a line on stderr says
 * where it is.
 */
bool serve_start(const char *address, bool insecure, struct error *err);
void serve_stop(void);

/* Where it listens; "" when it does not. */
const char *serve_address(void);

/* From now on a forked child serves too, at an address of its own: another
 * free port, or the socket's path with ".PID". */
void serve_in_children(void);

/* An address for this process when another one has the given one. */
void serve_own_address(const char *address, char *out, size_t size);

/* In the child: the parent's listener is not ours. */
void serve_after_fork(void);

#endif
