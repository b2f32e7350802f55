/*
 * Where a pod may have its profiles.  An annotation is an order; without one
 * the places are guesses, the likely ones first.
 */
#include "kube/annotations.h"
#include "kube/pod.h"
#include "kube/way_in.h"

/* net/http/pprof's usual port, then those of servers that mount it beside
 * metrics or health: OLM, etcd, controllers, Prometheus, CoreDNS. */
static const unsigned usual[] = {6060, 8080, 8081, 8443, 2379, 9090, 6053};

#define MAX_PLACES 12

static void add(struct arena *a, struct way_places *out, struct way_place place)
{
    for (size_t i = 0; i < out->list.n; i++)
        if (out->list.v[i].port == place.port)
            return;
    if (out->list.n < MAX_PLACES)
        *vec_push(a, &out->list) = place;
}

static bool is_telling(struct str name)
{
    return str_contains(name, STR("pprof")) ||
           str_contains(name, STR("debug")) || str_contains(name, STR("prof"));
}

static void add_declared(struct arena *a, const struct kube_pod *pod,
                         bool telling, struct way_place pattern,
                         struct way_places *out)
{
    for (size_t i = 0; i < pod->n_containers; i++) {
        const struct kube_container *c = &pod->containers[i];

        for (size_t j = 0; !c->is_init && j < c->n_ports; j++) {
            bool tcp = c->ports[j].protocol.n == 0 ||
                       str_eq(c->ports[j].protocol, STR("TCP"));

            if (tcp && is_telling(c->ports[j].name) == telling) {
                pattern.port = c->ports[j].number;
                add(a, out, pattern);
            }
        }
    }
}

static bool add_annotated(struct arena *a, const struct kube_pod *pod,
                          struct way_places *out, struct error *err)
{
    struct kube_endpoints found = {0};

    if (!kube_pod_endpoints(a, pod, &found, err))
        return false;
    for (size_t i = 0; i < found.n; i++)
        add(a, out,
            (struct way_place){found.v[i].number, found.v[i].scheme,
                               found.v[i].prefix});
    return true;
}

bool way_places_find(struct arena *a, const struct kube_pod *pod, unsigned port,
                     struct str scheme, struct str prefix,
                     struct way_places *out, struct error *err)
{
    struct way_place pattern = {port, scheme,
                                prefix.n ? prefix : STR("/debug/pprof")};

    if (port) {
        add(a, out, pattern);
        return true;
    }
    if (!add_annotated(a, pod, out, err))
        return false;
    if (out->list.n)
        return true;
    add_declared(a, pod, true, pattern, out);
    pattern.port = usual[0];
    add(a, out, pattern);
    add_declared(a, pod, false, pattern, out);
    for (size_t i = 1; i < sizeof(usual) / sizeof(*usual); i++) {
        pattern.port = usual[i];
        add(a, out, pattern);
    }
    return true;
}
