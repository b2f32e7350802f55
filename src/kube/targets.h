#ifndef KUBE_TARGETS_H
#define KUBE_TARGETS_H

#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/label_set.h"
#include "kube/pod.h"

/*
 * From a pod to the targets of a scraper, each a set of labels in Prometheus'
 * model.
 *
 * KUBE_BY_ANNOTATION: a running pod whose annotations ask for it.  Beside
 * Prometheus' __meta_kubernetes_* labels a target has
 *
 *     __address__         10.244.0.5:6060, [fd00::5]:6060
 *     __scheme__          http or https
 *     __path_prefix__     /debug/pprof, where the index page is
 *     __profiles__        cpu,heap: absent if nothing was asked for
 *     __seconds__, __interval__                        likewise
 *     __service_name__    annotation, else owner, else pod
 *     __tls_secret__      NAMESPACE/NAME, absent without one
 *     namespace, pod, node, container, image           where known
 *
 * and those labels of the pod that `pod_labels` selects.
 *
 * KUBE_EVERY_PORT: every port of every container, as `role: pod` of
 * Prometheus gives them; a container without ports is one target without
 * port.  Only the __meta_* labels, __address__, __scheme__, __path_prefix__
 * and __service_name__ (by the owner) are set: what is scraped and what it is
 * called is left to relabelling.
 */
enum kube_mode { KUBE_BY_ANNOTATION, KUBE_EVERY_PORT };

struct kube_target_options {
    enum kube_mode mode;
    const struct str *pod_labels; /* names of labels to add, by annotation */
    size_t n_pod_labels;
};

struct kube_targets {
    struct label_set *v;
    size_t n, cap;
};

/* Returns true if the pod could have targets, now or when it runs. */
bool kube_pod_is_wanted(const struct kube_pod *pod,
                        const struct kube_target_options *options);

/* Appends the pod's targets; their texts are the pod's or from `a`.  False: an
 * annotation is invalid; nothing was appended. */
bool kube_pod_targets(struct arena *a, const struct kube_pod *pod,
                      const struct kube_target_options *options,
                      struct kube_targets *out, struct error *err);

#endif
