/*
 * Only TCP ports count.  Containers of a pod share its address, so a number
 * stands for one port whichever container declares it.
 */
#include "kube/ports.h"

#include "base/vec.h"

static void add(struct arena *a, const struct kube_endpoint *pattern,
                const struct kube_container *container,
                const struct kube_port *port, uint32_t number,
                struct kube_endpoints *out)
{
    struct kube_endpoint *e = vec_push(a, out);

    *e = *pattern;
    e->container = container;
    e->port = port;
    e->number = number;
}

typedef bool port_test(const struct kube_port *port, struct str name);

static size_t add_those(struct arena *a, const struct kube_pod *pod,
                        const struct kube_endpoint *pattern, port_test *test,
                        struct str name, struct kube_endpoints *out)
{
    size_t before = out->n;

    for (size_t i = 0; i < pod->n_containers; i++) {
        const struct kube_container *c = &pod->containers[i];

        for (size_t k = 0; k < c->n_ports; k++)
            if (str_eq(c->ports[k].protocol, STR("TCP")) &&
                test(&c->ports[k], name))
                add(a, pattern, c, &c->ports[k], c->ports[k].number, out);
    }
    return out->n - before;
}

static bool is_named(const struct kube_port *port, struct str name)
{
    return str_eq(port->name, name);
}

static bool is_usual(const struct kube_port *port, struct str name)
{
    (void)name;
    return str_eq(port->name, STR("pprof")) ||
           str_has_suffix(port->name, STR("-pprof"));
}

static bool is_any(const struct kube_port *port, struct str name)
{
    (void)port, (void)name;
    return true;
}

size_t ports_add_name(struct arena *a, const struct kube_pod *pod,
                      const struct kube_endpoint *pattern, struct str name,
                      struct kube_endpoints *out)
{
    return add_those(a, pod, pattern, is_named, name, out);
}

size_t ports_add_usual(struct arena *a, const struct kube_pod *pod,
                       const struct kube_endpoint *pattern,
                       struct kube_endpoints *out)
{
    return add_those(a, pod, pattern, is_usual, STR(""), out);
}

size_t ports_add_all(struct arena *a, const struct kube_pod *pod,
                     const struct kube_endpoint *pattern,
                     struct kube_endpoints *out)
{
    return add_those(a, pod, pattern, is_any, STR(""), out);
}

/* The one container that is no init container, NULL if there are several. */
static const struct kube_container *only_container(const struct kube_pod *pod)
{
    const struct kube_container *only = NULL;

    for (size_t i = 0; i < pod->n_containers; i++) {
        if (pod->containers[i].is_init)
            continue;
        if (only)
            return NULL;
        only = &pod->containers[i];
    }
    return only;
}

void ports_add_number(struct arena *a, const struct kube_pod *pod,
                      const struct kube_endpoint *pattern, uint32_t number,
                      struct kube_endpoints *out)
{
    for (size_t i = 0; i < pod->n_containers; i++) {
        const struct kube_container *c = &pod->containers[i];

        for (size_t k = 0; k < c->n_ports; k++)
            if (c->ports[k].number == number &&
                str_eq(c->ports[k].protocol, STR("TCP"))) {
                add(a, pattern, c, &c->ports[k], number, out);
                return; /* containers of a pod share its ports */
            }
    }
    add(a, pattern, only_container(pod), NULL, number, out);
}

bool ports_add_word(struct arena *a, const struct kube_pod *pod,
                    const struct kube_endpoint *pattern, struct str word,
                    struct kube_endpoints *out, struct error *err)
{
    uint64_t number;

    if (word.n == 0)
        return true; /* "8080," */
    if (str_to_u64(word, 10, &number)) {
        if (number < 1 || number > 65535)
            return error_set(err, "\"%" STR_FMT "\" is not a port number",
                             STR_ARG(word));
        ports_add_number(a, pod, pattern, (uint32_t)number, out);
        return true;
    }
    if (ports_add_name(a, pod, pattern, word, out) == 0)
        return error_set(err,
                         "no container has a TCP port named "
                         "\"%" STR_FMT "\"",
                         STR_ARG(word));
    return true;
}

static bool is_same(const struct kube_endpoint *x,
                    const struct kube_endpoint *y)
{
    return x->number == y->number && str_eq(x->scheme, y->scheme) &&
           str_eq(x->prefix, y->prefix);
}

void ports_join(struct arena *a, struct kube_endpoints *list)
{
    size_t kept = 0;

    for (size_t i = 0; i < list->n; i++) {
        size_t k = 0;

        while (k < kept && !is_same(&list->v[k], &list->v[i]))
            k++;
        if (k == kept)
            list->v[kept++] = list->v[i];
        else if (!str_eq(list->v[k].profiles, list->v[i].profiles))
            list->v[k].profiles = str_from(arena_printf(
                a, "%" STR_FMT ",%" STR_FMT, STR_ARG(list->v[k].profiles),
                STR_ARG(list->v[i].profiles)));
    }
    list->n = kept;
}
