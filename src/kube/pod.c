/*
 * From the API's object to struct kube_pod.  Members may be missing or null
 * everywhere (a pod that is not scheduled has no node and no address), but
 * one of the wrong kind means that this is no pod.
 */
#include "kube/pod.h"

#include <stdlib.h>

#include "base/time_text.h"
#include "base/vec.h"
#include "config/document.h"
#include "kube/annotation_names.h"

static int by_name(const void *x, const void *y)
{
    return str_cmp(((const struct kube_pair *)x)->name,
                   ((const struct kube_pair *)y)->name);
}

/* A map of texts; keep() may be NULL. */
static bool read_pairs(struct arena *a, const struct node *parent,
                       const char *key,
                       bool (*keep)(struct str name, struct str value),
                       const struct kube_pair **out, size_t *n,
                       struct error *err)
{
    const struct node *map = NULL;
    VEC(struct kube_pair) list = {0};

    if (!node_map(parent, key, &map, err))
        return false;
    for (size_t i = 0; map && i < map->n && list.n < KUBE_MAX_PAIRS; i++) {
        struct kube_pair pair = {.name = map->keys[i]};

        if (!node_is_text(map->items[i], &pair.value, err))
            return false;
        if (!keep || keep(pair.name, pair.value))
            *vec_push(a, &list) = pair;
    }
    if (list.n)
        qsort(list.v, list.n, sizeof(*list.v), by_name);
    *out = list.v;
    *n = list.n;
    return true;
}

static bool is_kept(struct str name, struct str value)
{
    return kube_annotation_is_known(name) ||
           name.n + value.n <= KUBE_ANNOTATION_BYTES;
}

static bool read_controller(const struct node *meta, struct kube_pod *pod,
                            struct error *err)
{
    const struct node *owners = NULL;

    if (!node_list(meta, "ownerReferences", &owners, err))
        return false;
    for (size_t i = 0; owners && i < owners->n; i++) {
        bool is_controller = false;

        if (!node_is_map(owners->items[i], err) ||
            !node_bool(owners->items[i], "controller", &is_controller, err))
            return false;
        if (is_controller)
            return node_text(owners->items[i], "kind", &pod->controller_kind,
                             err) &&
                   node_text(owners->items[i], "name", &pod->controller_name,
                             err);
    }
    return true;
}

static bool read_metadata(struct arena *a, const struct node *object,
                          struct kube_pod *pod, struct error *err)
{
    const struct node *meta = NULL;
    struct str created = STR("");
    struct error ignored;

    if (!node_map(object, "metadata", &meta, err))
        return false;
    if (!meta)
        return error_set(err, "an object without metadata is not a pod");
    if (!node_text(meta, "name", &pod->name, err) ||
        !node_text(meta, "namespace", &pod->namespace_name, err) ||
        !node_text(meta, "uid", &pod->uid, err) ||
        !node_text(meta, "creationTimestamp", &created, err) ||
        !read_pairs(a, meta, "labels", NULL, &pod->labels, &pod->n_labels,
                    err) ||
        !read_pairs(a, meta, "annotations", is_kept, &pod->annotations,
                    &pod->n_annotations, err) ||
        !read_controller(meta, pod, err))
        return false;
    if (pod->name.n == 0)
        return error_set(err, "an object without metadata.name is not a pod");
    if (created.n && !time_parse(created, 0, &pod->created_ns, &ignored))
        pod->created_ns = 0;
    return true;
}

static bool read_ports(struct arena *a, const struct node *container,
                       struct kube_container *out, struct error *err)
{
    const struct node *ports = NULL;
    VEC(struct kube_port) list = {0};

    if (!node_list(container, "ports", &ports, err))
        return false;
    for (size_t i = 0; ports && i < ports->n && i < KUBE_MAX_PORTS; i++) {
        struct kube_port port = {.protocol = STR("TCP")};
        int64_t number = 0;

        if (!node_is_map(ports->items[i], err) ||
            !node_text(ports->items[i], "name", &port.name, err) ||
            !node_text(ports->items[i], "protocol", &port.protocol, err) ||
            !node_int(ports->items[i], "containerPort", 0, 65535, &number, err))
            return false;
        port.number = (uint32_t)number;
        *vec_push(a, &list) = port;
    }
    out->ports = list.v;
    out->n_ports = list.n;
    return true;
}

struct containers {
    VEC(struct kube_container) list;
};

static bool read_containers(struct arena *a, const struct node *spec,
                            const char *key, bool is_init,
                            struct containers *out, struct error *err)
{
    const struct node *list = NULL;

    if (!node_list(spec, key, &list, err))
        return false;
    for (size_t i = 0; list && i < list->n && out->list.n < KUBE_MAX_CONTAINERS;
         i++) {
        struct kube_container c = {.is_init = is_init};

        if (!node_is_map(list->items[i], err) ||
            !node_text(list->items[i], "name", &c.name, err) ||
            !node_text(list->items[i], "image", &c.image, err) ||
            !read_ports(a, list->items[i], &c, err))
            return false;
        *vec_push(a, &out->list) = c;
    }
    return true;
}

static bool read_spec(struct arena *a, const struct node *object,
                      struct kube_pod *pod, struct error *err)
{
    const struct node *spec = NULL;
    struct containers all = {0};

    if (!node_map(object, "spec", &spec, err))
        return false;
    if (!spec)
        return true;
    if (!node_text(spec, "nodeName", &pod->node, err) ||
        !read_containers(a, spec, "initContainers", true, &all, err) ||
        !read_containers(a, spec, "containers", false, &all, err))
        return false;
    pod->containers = all.list.v;
    pod->n_containers = all.list.n;
    return true;
}

static struct str ready_word(struct str status)
{
    return str_eq(status, STR("True"))    ? STR("true")
           : str_eq(status, STR("False")) ? STR("false")
                                          : STR("unknown");
}

static bool read_status(const struct node *object, struct kube_pod *pod,
                        struct error *err)
{
    const struct node *status = NULL, *conditions = NULL;

    pod->ready = STR("unknown");
    if (!node_map(object, "status", &status, err))
        return false;
    if (!status)
        return true;
    if (!node_text(status, "phase", &pod->phase, err) ||
        !node_text(status, "podIP", &pod->ip, err) ||
        !node_text(status, "hostIP", &pod->host_ip, err) ||
        !node_list(status, "conditions", &conditions, err))
        return false;
    for (size_t i = 0; conditions && i < conditions->n; i++) {
        struct str type = STR(""), word = STR("");

        if (!node_is_map(conditions->items[i], err) ||
            !node_text(conditions->items[i], "type", &type, err) ||
            !node_text(conditions->items[i], "status", &word, err))
            return false;
        if (str_eq(type, STR("Ready")))
            pod->ready = ready_word(word);
    }
    return true;
}

bool kube_pod_read(struct arena *a, const struct node *object,
                   struct kube_pod *out, struct error *err)
{
    struct kube_pod pod = {0};

    if (!node_is_map(object, err) || !read_metadata(a, object, &pod, err) ||
        !read_spec(a, object, &pod, err) || !read_status(object, &pod, err))
        return false;
    *out = pod;
    return true;
}

static struct str find(const struct kube_pair *pairs, size_t n, struct str name)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(pairs[i].name, name))
            return pairs[i].value;
    return STR("");
}

struct str kube_pod_annotation(const struct kube_pod *pod, struct str name)
{
    return find(pod->annotations, pod->n_annotations, name);
}

struct str kube_pod_label(const struct kube_pod *pod, struct str name)
{
    return find(pod->labels, pod->n_labels, name);
}
