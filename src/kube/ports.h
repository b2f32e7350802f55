#ifndef KUBE_PORTS_H
#define KUBE_PORTS_H

#include "base/arena.h"
#include "base/error.h"
#include "kube/endpoint.h"

/*
 * From a port in an annotation to the containers of the pod.  Every function
 * appends a copy of `pattern` for each port it finds.
 */

/* A number that no container declares is used all the same: a declaration is
 * documentation, not a firewall. */
void ports_add_number(struct arena *a, const struct kube_pod *pod,
                      const struct kube_endpoint *pattern, uint32_t number,
                      struct kube_endpoints *out);

/* Every TCP port of that name; how many. */
size_t ports_add_name(struct arena *a, const struct kube_pod *pod,
                      const struct kube_endpoint *pattern, struct str name,
                      struct kube_endpoints *out);

/* A number or a name. */
bool ports_add_word(struct arena *a, const struct kube_pod *pod,
                    const struct kube_endpoint *pattern, struct str word,
                    struct kube_endpoints *out, struct error *err);

/* The ports that are called pprof or something-pprof; how many. */
size_t ports_add_usual(struct arena *a, const struct kube_pod *pod,
                       const struct kube_endpoint *pattern,
                       struct kube_endpoints *out);

/* Every TCP port; how many. */
size_t ports_add_all(struct arena *a, const struct kube_pod *pod,
                     const struct kube_endpoint *pattern,
                     struct kube_endpoints *out);

/* Endpoints with the same port, scheme and path prefix become one, which has
 * the profiles of all. */
void ports_join(struct arena *a, struct kube_endpoints *list);

#endif
