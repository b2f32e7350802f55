#ifndef KUBE_POD_H
#define KUBE_POD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "config/node.h"

/*
 * What the discovery keeps of a pod.
 *
 * A pod of the API is 5 to 20 KB of JSON; this is the part that is needed.
 * Texts that the pod does not have are "".  Labels and annotations are sorted
 * by name.
 *
 * Annotations that say how to scrape are kept whatever they are; others only
 * up to KUBE_ANNOTATION_BYTES, so that relabelling rules can use them but the
 * copies of whole manifests that kubectl puts there are left out.
 */
#define KUBE_ANNOTATION_BYTES 512
#define KUBE_MAX_PAIRS        128 /* labels, annotations, each */
#define KUBE_MAX_CONTAINERS   64
#define KUBE_MAX_PORTS        64 /* of a container */

/* Unlike in a label_set, a value may be "". */
struct kube_pair {
    struct str name, value;
};

struct kube_port {
    struct str name, protocol;
    uint32_t number;
};

struct kube_container {
    struct str name, image;
    bool is_init;
    const struct kube_port *ports;
    size_t n_ports;
};

struct kube_pod {
    struct str name, namespace_name, uid;
    struct str node, host_ip, ip;
    struct str phase;
    struct str ready; /* "true", "false" or "unknown" */
    int64_t created_ns;

    /* Its controller, as ownerReferences has it. */
    struct str controller_kind, controller_name;

    const struct kube_pair *labels, *annotations;
    size_t n_labels, n_annotations;

    /* Init containers come first. */
    const struct kube_container *containers;
    size_t n_containers;
};

/* Reads an object of the API; what is kept lives in `a` and in the
 * document. */
bool kube_pod_read(struct arena *a, const struct node *object,
                   struct kube_pod *out, struct error *err);

/* The value, or "". */
struct str kube_pod_annotation(const struct kube_pod *pod, struct str name);
struct str kube_pod_label(const struct kube_pod *pod, struct str name);

#endif
