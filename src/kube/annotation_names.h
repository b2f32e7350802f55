#ifndef KUBE_ANNOTATION_NAMES_H
#define KUBE_ANNOTATION_NAMES_H

#include <stdbool.h>

#include "base/str.h"

/*
 * The families of annotations that describe how to scrape a pod.
 */
#define KUBE_OURS    "pprof/"
#define KUBE_PROFEFE "profefe.com/"
#define KUBE_GRAFANA "profiles.grafana.com/"

static inline bool kube_annotation_is_known(struct str name)
{
    return str_has_prefix(name, STR(KUBE_OURS)) ||
           str_has_prefix(name, STR(KUBE_PROFEFE)) ||
           str_has_prefix(name, STR(KUBE_GRAFANA));
}

#endif
