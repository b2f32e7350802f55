#ifndef KUBE_KUBECTL_PODS_H
#define KUBE_KUBECTL_PODS_H

#include "base/vec.h"
#include "config/node.h"
#include "kube/kubectl_run.h"

/*
 * The pods that a user means, as kubectl knows them.
 */
struct kube_pod;

struct kubectl_pod {
    const struct kube_pod *pod;
    struct str name, namespace_name;
    bool is_annotated;  /* its annotations enable scraping, see
                           kube/annotations.h */
    struct str service; /* the service name in its annotations, or "" */
    struct str owner;   /* "Deployment/web"; "" if it has none */
    /* Why it cannot be reached: "is Pending (Unschedulable)"; "" if it runs. */
    struct str obstacle;
    struct str remark; /* "a container was OOMKilled"; or "" */
};

struct kubectl_pods {
    VEC(struct kubectl_pod) list;
};

struct kubectl_query {
    const char *namespace_name; /* NULL: that of the context */
    bool all_namespaces;
    const char *selector; /* of labels; NULL: none */
    /* POD, pod/NAME, deploy/NAME, svc/NAME … */
    const char *const *names;
    size_t n_names;
};

/*
 * Without names: all pods of the namespace that match the selector.  With
 * names: these pods, and the pods of these workloads, each one once.
 */
bool kubectl_pods_find(struct arena *a, const struct kubectl *k,
                       const struct kubectl_query *query,
                       struct kubectl_pods *out, struct kubectl_failure *why);

/* The label selector of a workload or service, as kubectl's -l takes it; NULL
 * if the object has none. */
const char *kubectl_selector_of(struct arena *a, const struct node *object);

#endif
