#ifndef KUBE_ANNOTATIONS_H
#define KUBE_ANNOTATIONS_H

#include "base/arena.h"
#include "base/error.h"
#include "kube/annotation_names.h"
#include "kube/endpoint.h"
#include "kube/pod.h"

/*
 * What a pod's annotations ask for.  docs/kubernetes.md describes the three
 * families; the first that a pod uses counts:
 *
 *     pprof/scrape: "true"                          ours
 *     profefe.com/enable: "true"                    kube-profefe's
 *     profiles.grafana.com/cpu.scrape: "true" …     Grafana's
 *
 * pprof/scrape: "false" is a no for all of them.
 */

/* Returns true if any family enables scraping. */
bool kube_pod_is_annotated(const struct kube_pod *pod);

/* False: an annotation is invalid; the error names it. */
bool kube_pod_endpoints(struct arena *a, const struct kube_pod *pod,
                        struct kube_endpoints *out, struct error *err);

#endif
