/*
 * Fields in the order of struct kube_pod: a text is its length (32 bits) and
 * its bytes, a list its length and its elements.
 */
#include "kube/pod_record.h"

#include <string.h>

/* --- writing -------------------------------------------------------------- */

static void put_number(struct buf *out, uint64_t n)
{
    buf_add_bytes(out, &n, sizeof(n));
}

static void put_count(struct buf *out, size_t n)
{
    uint32_t count = (uint32_t)n;

    buf_add_bytes(out, &count, sizeof(count));
}

static void put_text(struct buf *out, struct str s)
{
    put_count(out, s.n);
    buf_add(out, s);
}

static void put_pairs(struct buf *out, const struct kube_pair *pairs, size_t n)
{
    put_count(out, n);
    for (size_t i = 0; i < n; i++) {
        put_text(out, pairs[i].name);
        put_text(out, pairs[i].value);
    }
}

static void put_container(struct buf *out, const struct kube_container *c)
{
    put_text(out, c->name);
    put_text(out, c->image);
    put_count(out, c->is_init);
    put_count(out, c->n_ports);
    for (size_t i = 0; i < c->n_ports; i++) {
        put_text(out, c->ports[i].name);
        put_text(out, c->ports[i].protocol);
        put_count(out, c->ports[i].number);
    }
}

void pod_record_write(struct buf *out, const struct kube_pod *pod)
{
    const struct str texts[] = {
        pod->name,
        pod->namespace_name,
        pod->uid,
        pod->node,
        pod->host_ip,
        pod->ip,
        pod->phase,
        pod->ready,
        pod->controller_kind,
        pod->controller_name,
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        put_text(out, texts[i]);
    put_number(out, (uint64_t)pod->created_ns);
    put_pairs(out, pod->labels, pod->n_labels);
    put_pairs(out, pod->annotations, pod->n_annotations);
    put_count(out, pod->n_containers);
    for (size_t i = 0; i < pod->n_containers; i++)
        put_container(out, &pod->containers[i]);
}

/* --- reading -------------------------------------------------------------- */

static bool get_bytes(struct str *in, void *out, size_t n)
{
    if (in->n < n)
        return false;
    memcpy(out, in->s, n);
    *in = str_skip(*in, n);
    return true;
}

static bool get_count(struct str *in, size_t *out)
{
    uint32_t count;

    if (!get_bytes(in, &count, sizeof(count)))
        return false;
    *out = count;
    return true;
}

static bool get_text(struct str *in, struct str *out)
{
    size_t n;

    if (!get_count(in, &n) || n > in->n)
        return false;
    *out = str_first(*in, n);
    *in = str_skip(*in, n);
    return true;
}

/* The length of a list whose elements need at least `size` bytes each. */
static bool get_length(struct str *in, size_t size, size_t *out)
{
    return get_count(in, out) && *out <= in->n / size;
}

static bool get_pairs(struct arena *a, struct str *in,
                      const struct kube_pair **pairs, size_t *n)
{
    struct kube_pair *list;

    if (!get_length(in, 8, n))
        return false;
    list = arena_new_array(a, struct kube_pair, *n);
    *pairs = list;
    for (size_t i = 0; i < *n; i++)
        if (!get_text(in, &list[i].name) || !get_text(in, &list[i].value))
            return false;
    return true;
}

static bool get_container(struct arena *a, struct str *in,
                          struct kube_container *c)
{
    struct kube_port *ports;
    size_t is_init, number;

    if (!get_text(in, &c->name) || !get_text(in, &c->image) ||
        !get_count(in, &is_init) || !get_length(in, 12, &c->n_ports))
        return false;
    c->is_init = is_init != 0;
    ports = arena_new_array(a, struct kube_port, c->n_ports);
    c->ports = ports;
    for (size_t i = 0; i < c->n_ports; i++) {
        if (!get_text(in, &ports[i].name) ||
            !get_text(in, &ports[i].protocol) || !get_count(in, &number))
            return false;
        ports[i].number = (uint32_t)number;
    }
    return true;
}

static bool get_containers(struct arena *a, struct str *in,
                           struct kube_pod *pod)
{
    struct kube_container *list;

    if (!get_length(in, 16, &pod->n_containers))
        return false;
    list = arena_new_array(a, struct kube_container, pod->n_containers);
    pod->containers = list;
    for (size_t i = 0; i < pod->n_containers; i++)
        if (!get_container(a, in, &list[i]))
            return false;
    return true;
}

bool pod_record_read(struct arena *a, struct str in, struct kube_pod *out)
{
    struct kube_pod pod = {0};
    struct str *texts[] = {
        &pod.name,
        &pod.namespace_name,
        &pod.uid,
        &pod.node,
        &pod.host_ip,
        &pod.ip,
        &pod.phase,
        &pod.ready,
        &pod.controller_kind,
        &pod.controller_name,
    };
    uint64_t created;

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (!get_text(&in, texts[i]))
            return false;
    if (!get_bytes(&in, &created, sizeof(created)) ||
        !get_pairs(a, &in, &pod.labels, &pod.n_labels) ||
        !get_pairs(a, &in, &pod.annotations, &pod.n_annotations) ||
        !get_containers(a, &in, &pod) || in.n != 0)
        return false;
    pod.created_ns = (int64_t)created;
    *out = pod;
    return true;
}
