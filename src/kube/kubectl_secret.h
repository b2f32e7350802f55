#ifndef KUBE_KUBECTL_SECRET_H
#define KUBE_KUBECTL_SECRET_H

#include "base/arena.h"
#include "kube/kubectl_run.h"

/*
 * The certificates of a Secret, in memory.
 *
 * Each part becomes a file without a name (memfd) that only this process can
 * open, as /proc/self/fd/N: nothing reaches a disk or the environment, and
 * kubectl does not inherit it.  The name can be used wherever a file is wanted
 * (fetch/http_fetch.h).
 */
struct kubectl_secret {
    int cert_fd, key_fd, ca_fd; /* -1: the Secret does not have it */
    struct str cert, key, ca;   /* names of the files, or "" */
};

#define KUBECTL_SECRET_INIT ((struct kubectl_secret){-1, -1, -1, {0}, {0}, {0}})

/* `name` is NAMESPACE/NAME, or NAME in `namespace_name` (NULL: that of the
 * context). */
bool kubectl_secret_load(struct arena *a, const struct kubectl *k,
                         const char *namespace_name, const char *name,
                         struct kubectl_secret *out,
                         struct kubectl_failure *why);

void kubectl_secret_release(struct kubectl_secret *s);

#endif
