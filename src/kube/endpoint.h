#ifndef KUBE_ENDPOINT_H
#define KUBE_ENDPOINT_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "kube/pod.h"

/*
 * A place in a pod where profiles can be fetched, as annotations describe it.
 */
#define KUBE_DEFAULT_PREFIX "/debug/pprof"

struct kube_endpoint {
    const struct kube_container *container; /* NULL: not known */
    const struct kube_port *port;           /* NULL: not declared */
    uint32_t number;
    struct str scheme, prefix;
    struct str profiles; /* "": the scraper's choice */
    struct str seconds, interval;
    struct str service;    /* "": by the owner */
    struct str tls_secret; /* NAMESPACE/NAME or "" */
};

struct kube_endpoints {
    struct kube_endpoint *v;
    size_t n, cap;
};

#endif
