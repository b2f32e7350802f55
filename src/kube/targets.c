/*
 * Label names are Prometheus', so that relabelling rules written for it work
 * here.  The labels that all targets of a pod share are made once.
 */
#include "kube/targets.h"

#include <ctype.h>
#include <string.h>

#include "base/vec.h"
#include "kube/annotations.h"
#include "kube/owner.h"

#define META "__meta_kubernetes_"

struct maker {
    struct arena *a;
    const struct kube_pod *pod;
    const struct kube_target_options *options;
    struct label_set common; /* what all targets of the pod have */
    struct kube_targets *out;
};

static void put(struct maker *m, struct label_set *s, const char *name,
                struct str value)
{
    label_set_put(m->a, s, str_from(name), value);
}

/* "prefix" + the name with every character that a label cannot have as '_'. */
static struct str safe_name(struct arena *a, const char *prefix,
                            struct str name)
{
    char *text = arena_printf(a, "%s%" STR_FMT, prefix, STR_ARG(name));

    for (char *p = text; *p; p++)
        if (!isalnum((unsigned char)*p) && *p != '_')
            *p = '_';
    return str_from(text);
}

/* All NAME=value as PREFIX_NAME, and PRESENT_NAME="true". */
static void put_pairs(struct maker *m, const struct kube_pair *pairs, size_t n,
                      const char *prefix, const char *present)
{
    for (size_t i = 0; i < n; i++) {
        label_set_put(m->a, &m->common, safe_name(m->a, prefix, pairs[i].name),
                      pairs[i].value);
        label_set_put(m->a, &m->common, safe_name(m->a, present, pairs[i].name),
                      STR("true"));
    }
}

static void put_pod_meta(struct maker *m)
{
    const struct kube_pod *p = m->pod;
    struct label_set *s = &m->common;
    struct kube_owner owner = kube_pod_owner(p);

    put(m, s, META "namespace", p->namespace_name);
    put(m, s, META "pod_name", p->name);
    put(m, s, META "pod_ip", p->ip);
    put(m, s, META "pod_ready", p->ready);
    put(m, s, META "pod_phase", p->phase);
    put(m, s, META "pod_node_name", p->node);
    put(m, s, META "pod_host_ip", p->host_ip);
    put(m, s, META "pod_uid", p->uid);
    put(m, s, META "pod_controller_kind", p->controller_kind);
    put(m, s, META "pod_controller_name", p->controller_name);
    put(m, s, META "pod_owner_kind", owner.kind);
    put(m, s, META "pod_owner_name", owner.name);
    put_pairs(m, p->labels, p->n_labels, META "pod_label_",
              META "pod_labelpresent_");
    put_pairs(m, p->annotations, p->n_annotations, META "pod_annotation_",
              META "pod_annotationpresent_");
    put(m, s, "__service_name__", owner.name.n ? owner.name : p->name);
}

static struct str address(struct arena *a, struct str ip, uint32_t port)
{
    bool is_v6 = str_find_char(ip, ':') >= 0;

    if (port == 0)
        return str_from(arena_printf(a, is_v6 ? "[%" STR_FMT "]" : "%" STR_FMT,
                                     STR_ARG(ip)));
    return str_from(arena_printf(
        a, is_v6 ? "[%" STR_FMT "]:%u" : "%" STR_FMT ":%u", STR_ARG(ip), port));
}

/* The common labels with room for more; the texts are shared. */
static struct label_set begin_set(struct maker *m)
{
    struct label_set s = {.cap = m->common.n + 16};

    s.v = arena_alloc_array(m->a, s.cap, sizeof(*s.v));
    s.n = m->common.n;
    memcpy(s.v, m->common.v, s.n * sizeof(*s.v));
    return s;
}

/* A target with what is known of its container and port; NULL: nothing. */
static struct label_set *add_target(struct maker *m, uint32_t number,
                                    const struct kube_container *c,
                                    const struct kube_port *port)
{
    struct label_set *s = vec_push(m->a, m->out);

    *s = begin_set(m);
    put(m, s, "__address__", address(m->a, m->pod->ip, number));
    if (c) {
        put(m, s, META "pod_container_name", c->name);
        put(m, s, META "pod_container_image", c->image);
        put(m, s, META "pod_container_init",
            c->is_init ? STR("true") : STR("false"));
    }
    if (port) {
        put(m, s, META "pod_container_port_name", port->name);
        put(m, s, META "pod_container_port_number",
            str_from(arena_printf(m->a, "%u", port->number)));
        put(m, s, META "pod_container_port_protocol", port->protocol);
    }
    return s;
}

static void add_every_port(struct maker *m)
{
    put(m, &m->common, "__scheme__", STR("http"));
    put(m, &m->common, "__path_prefix__", STR(KUBE_DEFAULT_PREFIX));
    for (size_t i = 0; i < m->pod->n_containers; i++) {
        const struct kube_container *c = &m->pod->containers[i];

        if (c->n_ports == 0)
            add_target(m, 0, c, NULL);
        for (size_t k = 0; k < c->n_ports; k++)
            add_target(m, c->ports[k].number, c, &c->ports[k]);
    }
}

static void put_own_labels(struct maker *m)
{
    const struct kube_pod *p = m->pod;

    for (size_t i = 0; i < m->options->n_pod_labels; i++) {
        struct str name = m->options->pod_labels[i];

        label_set_put(m->a, &m->common, safe_name(m->a, "", name),
                      kube_pod_label(p, name));
    }
    put(m, &m->common, "namespace", p->namespace_name);
    put(m, &m->common, "pod", p->name);
    put(m, &m->common, "node", p->node);
}

static void add_endpoint(struct maker *m, const struct kube_endpoint *e)
{
    struct label_set *s = add_target(m, e->number, e->container, e->port);

    put(m, s, "__scheme__", e->scheme);
    put(m, s, "__path_prefix__", e->prefix);
    put(m, s, "__profiles__", e->profiles);
    put(m, s, "__seconds__", e->seconds);
    put(m, s, "__interval__", e->interval);
    put(m, s, "__tls_secret__", e->tls_secret);
    if (e->service.n)
        put(m, s, "__service_name__", e->service);
    if (e->container) {
        put(m, s, "container", e->container->name);
        put(m, s, "image", e->container->image);
    }
}

bool kube_pod_is_wanted(const struct kube_pod *pod,
                        const struct kube_target_options *options)
{
    return options->mode == KUBE_EVERY_PORT || kube_pod_is_annotated(pod);
}

bool kube_pod_targets(struct arena *a, const struct kube_pod *pod,
                      const struct kube_target_options *options,
                      struct kube_targets *out, struct error *err)
{
    struct maker m = {.a = a, .pod = pod, .options = options, .out = out};
    struct kube_endpoints endpoints = {0};

    if (options->mode == KUBE_BY_ANNOTATION &&
        !kube_pod_endpoints(a, pod, &endpoints, err))
        return error_wrap(err, "pod %" STR_FMT "/%" STR_FMT,
                          STR_ARG(pod->namespace_name), STR_ARG(pod->name));
    if (pod->ip.n == 0)
        return true;
    if (options->mode == KUBE_EVERY_PORT) {
        put_pod_meta(&m);
        add_every_port(&m);
        return true;
    }
    if (endpoints.n == 0 || !str_eq(pod->phase, STR("Running")))
        return true;
    put_pod_meta(&m);
    put_own_labels(&m);
    for (size_t i = 0; i < endpoints.n; i++)
        add_endpoint(&m, &endpoints.v[i]);
    return true;
}
