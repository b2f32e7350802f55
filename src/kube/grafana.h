#ifndef KUBE_GRAFANA_H
#define KUBE_GRAFANA_H

#include "base/arena.h"
#include "base/error.h"
#include "kube/endpoint.h"

/*
 * Grafana's annotations, one group for each type of profile:
 *
 *     profiles.grafana.com/cpu.scrape: "true"
 *     profiles.grafana.com/cpu.port_name: "pprof"      or cpu.port: "6060"
 *     profiles.grafana.com/cpu.path: "/debug/pprof/profile"
 *     profiles.grafana.com/cpu.scheme: "http"
 *
 * A path is that of the profile itself.  Without port and port_name every
 * TCP port is scraped, as Grafana's own rules do.  Types that share a port,
 * scheme and path prefix become one endpoint.
 */
bool grafana_is_asked(const struct kube_pod *pod);

bool grafana_endpoints(struct arena *a, const struct kube_pod *pod,
                       struct kube_endpoints *out, struct error *err);

#endif
