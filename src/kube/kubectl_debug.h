#ifndef KUBE_KUBECTL_DEBUG_H
#define KUBE_KUBECTL_DEBUG_H

#include "base/arena.h"
#include "kube/kubectl_run.h"

/*
 * An ephemeral container in a running pod, for images without any tools.  It
 * shares the pod's network, so what it has (curl, wget, bash) reaches the
 * pod's loopback.
 *
 * The API cannot remove an ephemeral container from a pod.  So the container
 * only sleeps, and ends by itself; its entry stays in the pod until the pod is
 * deleted.
 */
struct kubectl_debug {
    const char *image;
    int seconds;   /* how long it lives */
    char name[24]; /* of the container; "" until it has been added */
};

#define KUBECTL_DEBUG_IMAGE "busybox"

/*
 * Adds the container and waits until it runs.  False: `why`; the container may
 * have been added all the same, then it has a name.  Memory from `a`.
 */
bool kubectl_debug_open(struct kubectl_debug *d, struct arena *a,
                        const struct kubectl *k, const char *namespace_name,
                        const char *pod, struct kubectl_failure *why);

#endif
