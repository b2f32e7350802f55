#ifndef KUBE_KUBECTL_RUN_H
#define KUBE_KUBECTL_RUN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/str.h"
#include "kube/kubectl_failure.h"

/*
 * The user's own kubectl, so that every way to log in works and its
 * configuration counts.
 *
 * A kubectl that was started never outlives us: it ends with the thread that
 * started it, at the latest.  Any thread may run one.
 */
struct kubectl {
    const char *program;      /* a name or a path */
    const char *const *flags; /* of every call: --context, --kubeconfig … */
    size_t n_flags;
    const volatile sig_atomic_t *stop; /* becomes true at Ctrl-C; or NULL */
    /* Receives every command line before it runs; may be NULL. */
    void (*show)(void *arg, const char *line);
    void *show_arg;
};

#define KUBECTL_MAX_ARGUMENTS 64
#define KUBECTL_MAX_REPLY     ((size_t)1 << 30)

/*
 * Runs kubectl to its end and appends its stdout to `out`.  `arguments` end
 * with NULL; `input` is its stdin.  False: it could not be run, did not end
 * with exit code 0, or was stopped.
 */
bool kubectl_run(const struct kubectl *k, const char *const *arguments,
                 struct str input, struct buf *out,
                 struct kubectl_failure *why);

/* A kubectl that goes on: port-forward. */
struct kubectl_process {
    pid_t pid; /* 0: none */
    int out, err;
};

bool kubectl_start(const struct kubectl *k, const char *const *arguments,
                   struct str input, struct kubectl_process *out,
                   struct kubectl_failure *why);

/*
 * Appends what comes on stdout and stderr, for at most timeout_ms.  Returns
 * the number of bytes, 0 after the time, -1 when both are closed.
 */
int kubectl_read(struct kubectl_process *p, int timeout_ms, struct buf *out,
                 struct buf *err);

/* Ends it if it runs, and waits for it.  Its exit code, 128 + signal if one
 * ended it. */
int kubectl_end(struct kubectl_process *p);

#endif
