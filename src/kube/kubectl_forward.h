#ifndef KUBE_KUBECTL_FORWARD_H
#define KUBE_KUBECTL_FORWARD_H

#include "kube/kubectl_run.h"

/*
 * A port of a pod as a port of 127.0.0.1, through `kubectl port-forward`.
 */
struct kubectl_forward {
    struct kubectl_process process;
    unsigned local_port;
    struct buf out, said; /* what kubectl printed */
};

/* Waits until kubectl listens.  Whether something listens in the pod shows
 * only with the first connection. */
bool kubectl_forward_open(struct kubectl_forward *f, const struct kubectl *k,
                          const char *namespace_name, const char *pod,
                          unsigned port, struct kubectl_failure *why);

/* Why a connection through it failed, according to kubectl; false if kubectl
 * printed nothing. */
bool kubectl_forward_complaint(struct kubectl_forward *f,
                               struct kubectl_failure *why);

/* Ends kubectl.  A forward that was never opened ({0}) is fine. */
void kubectl_forward_close(struct kubectl_forward *f);

#endif
