#ifndef KUBE_KUBECTL_FAILURE_H
#define KUBE_KUBECTL_FAILURE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

/*
 * Why kubectl failed, read from what it printed on stderr.
 *
 * kubectl has one exit code for everything, so its messages are all there is.
 * They come from the API server and have been the same since Kubernetes 1.20.
 */
enum kubectl_trouble {
    KUBECTL_OTHER,
    KUBECTL_FORBIDDEN,    /* `right` says what is missing */
    KUBECTL_UNAUTHORIZED, /* no or bad credentials */
    KUBECTL_NOT_FOUND,
    KUBECTL_NO_POD,      /* it is gone, or does not run any more */
    KUBECTL_NO_COMMAND,  /* the container does not have the program */
    KUBECTL_NO_UPGRADE,  /* something in between passes plain HTTP only */
    KUBECTL_REFUSED,     /* nothing listens on the pod's port */
    KUBECTL_UNREACHABLE, /* no connection to the API server */
    KUBECTL_STOPPED,     /* Ctrl-C */
};

/* As a rule of RBAC names it. */
struct kube_right {
    char verb[24], group[64], resource[64], namespace_name[64];
    char path[128]; /* of a right to a path instead of a resource */
};

struct kubectl_failure {
    enum kubectl_trouble trouble;
    struct kube_right right;
    char words[512]; /* one sentence, without "error: " */
};

void kubectl_failure_read(struct str text, struct kubectl_failure *out);

/* Sets trouble and words. */
void kubectl_failure_set(struct kubectl_failure *out,
                         enum kubectl_trouble trouble, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * The missing role as YAML, for an administrator: one Role for each namespace,
 * a ClusterRole for what has none.
 */
void kube_rights_print(const struct kube_right *rights, size_t n,
                       struct buf *out);

#endif
