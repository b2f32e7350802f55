#ifndef RUNTIME_ENDPOINT_SERVE_H
#define RUNTIME_ENDPOINT_SERVE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "runtime/endpoint/serve_options.h"

/*
 * The endpoint on a socket of its own, behind its guard.  One per process.  On
 * success its URL is printed on stderr.
 *
 * /healthz and /readyz need no authentication: probes have no certificate, and
 * the reply says only that the process is alive.
 */
bool serve_start(const struct serve_options *options, struct error *err);
void serve_stop(void);

/* The address on which it listens; "" if it does not. */
const char *serve_address(void);

/* From now on a forked child serves, too, at a different address: another free
 * port, or the socket's path with ".PID". */
void serve_in_children(void);

/* An address for this process when another one has the given one: the same
 * with "%p" for the process id, where there is one. */
void serve_own_address(const char *address, char *out, size_t size);

/* For daemon(3), which goes on in a child: closes the listener, if there is
 * one, and opens it again at the same address. */
bool serve_pause(void); /* false: there is none */
void serve_resume(void);

/* The process ends: removes the file of a unix socket. */
void serve_remove_socket(void);

/* Around fork: a child has neither the parent's listener nor a lock that one
 * of its threads had. */
bool serve_before_fork(void); /* what the next one must be told */
void serve_after_fork_in_parent(bool locked);
void serve_after_fork(void);

#endif
