/*
 * `kubectl get -o json` and nothing else: the forms for people change between
 * versions.  A workload is turned into the label selector that it has itself,
 * so that every kind with a selector works, those of custom resources too.
 */
#include "kube/kubectl_pods.h"

#include <stdlib.h>
#include <string.h>

#include "config/document.h"
#include "kube/annotations.h"
#include "kube/owner.h"
#include "kube/pod.h"

static const struct document_limits limits = {
    .bytes = KUBECTL_MAX_REPLY, .nodes = 50000000, .depth = 64};

static struct str text_at(const struct node *map, const char *key)
{
    const struct node *n =
        map && map->kind == NODE_MAP ? node_get(map, key) : NULL;

    return n && n->kind == NODE_SCALAR ? n->text : STR("");
}

static const struct node *child(const struct node *map, const char *key)
{
    return map && map->kind == NODE_MAP ? node_get(map, key) : NULL;
}

/* kubectl get ARGUMENTS -o json as a tree. */
static const struct node *get(struct arena *a, const struct kubectl *k,
                              const char *const *arguments,
                              struct kubectl_failure *why)
{
    struct buf out = BUF_INIT(KUBECTL_MAX_REPLY);
    const struct node *root = NULL;
    struct error err;

    if (kubectl_run(k, arguments, STR(""), &out, why)) {
        root = document_read_json(
            a, (struct document_source){"kubectl get", buf_str(&out)}, &limits,
            &err);
        if (!root)
            kubectl_failure_set(why, KUBECTL_OTHER, "%.400s", err.text);
    }
    buf_release(&out);
    return root;
}

static void add_sep(struct buf *b)
{
    if (b->len)
        buf_add_char(b, ',');
}

static void add_labels(const struct node *labels, struct buf *b)
{
    for (size_t i = 0; labels && labels->kind == NODE_MAP && i < labels->n;
         i++) {
        add_sep(b);
        buf_addf(b, "%" STR_FMT "=%" STR_FMT, STR_ARG(labels->keys[i]),
                 STR_ARG(labels->items[i]->text));
    }
}

static void add_expression(const struct node *e, struct buf *b)
{
    struct str key = text_at(e, "key"), op = text_at(e, "operator");
    const struct node *values = child(e, "values");

    add_sep(b);
    if (str_eq(op, STR("Exists")) || str_eq(op, STR("DoesNotExist"))) {
        buf_addf(b, "%s%" STR_FMT, op.s[0] == 'D' ? "!" : "", STR_ARG(key));
        return;
    }
    buf_addf(b, "%" STR_FMT " %s (", STR_ARG(key),
             str_eq(op, STR("In")) ? "in" : "notin");
    for (size_t i = 0; values && i < values->n; i++)
        buf_addf(b, "%s%" STR_FMT, i ? "," : "",
                 STR_ARG(values->items[i]->text));
    buf_add_char(b, ')');
}

const char *kubectl_selector_of(struct arena *a, const struct node *object)
{
    const struct node *selector = child(child(object, "spec"), "selector");
    const struct node *list = child(selector, "matchExpressions");
    struct buf b = arena_buf(a);

    if (!selector || selector->kind != NODE_MAP)
        return NULL;
    if (child(selector, "matchLabels") || list) {
        add_labels(child(selector, "matchLabels"), &b);
        for (size_t i = 0; list && i < list->n; i++)
            add_expression(list->items[i], &b);
    } else {
        add_labels(selector, &b); /* of a Service */
    }
    return b.len ? arena_cstr(a, buf_str(&b)) : NULL;
}

/* "CrashLoopBackOff" of the first container that waits or has ended. */
static struct str container_trouble(const struct node *status)
{
    const struct node *list = child(status, "containerStatuses");
    bool any_runs = false;
    struct str reason = STR("");

    for (size_t i = 0; list && i < list->n; i++) {
        const struct node *state = child(list->items[i], "state");
        struct str why = text_at(child(state, "waiting"), "reason");

        if (why.n == 0)
            why = text_at(child(state, "terminated"), "reason");
        any_runs = any_runs || child(state, "running");
        if (reason.n == 0)
            reason = why;
    }
    return any_runs ? STR("") : reason;
}

static struct str obstacle_of(struct arena *a, const struct node *object)
{
    const struct node *status = child(object, "status");
    struct str phase = text_at(status, "phase");
    struct str reason = container_trouble(status);

    if (child(child(object, "metadata"), "deletionTimestamp"))
        return STR("is being deleted");
    if (str_eq(phase, STR("Succeeded")))
        return STR("has completed");
    if (str_eq(phase, STR("Running")) && reason.n == 0)
        return STR("");
    return str_from(arena_printf(a, "is %" STR_FMT "%s%" STR_FMT "%s",
                                 STR_ARG(phase), reason.n ? " (" : "",
                                 STR_ARG(reason), reason.n ? ")" : ""));
}

static struct str remark_of(struct arena *a, const struct node *object)
{
    const struct node *list =
        child(child(object, "status"), "containerStatuses");

    for (size_t i = 0; list && i < list->n; i++) {
        const struct node *last = child(list->items[i], "lastState");
        struct str reason = text_at(child(last, "terminated"), "reason");

        if (str_eq(reason, STR("OOMKilled")))
            return str_from(
                arena_printf(a, "container %" STR_FMT " was OOMKilled before",
                             STR_ARG(text_at(list->items[i], "name"))));
    }
    return STR("");
}

/* What the collector shall call it.  Annotations that cannot be understood
 * are reported when its port is looked for. */
static struct str service_of(struct arena *a, const struct kube_pod *pod)
{
    struct kube_endpoints found = {0};
    struct error ignored;

    return kube_pod_endpoints(a, pod, &found, &ignored) && found.n
               ? found.v[0].service
               : STR("");
}

static bool has(const struct kubectl_pods *pods, const struct kube_pod *pod)
{
    for (size_t i = 0; i < pods->list.n; i++)
        if (str_eq(pods->list.v[i].name, pod->name) &&
            str_eq(pods->list.v[i].namespace_name, pod->namespace_name))
            return true;
    return false;
}

static bool add(struct arena *a, const struct node *object,
                struct kubectl_pods *out, struct kubectl_failure *why)
{
    struct kube_pod *pod = arena_alloc(a, sizeof(*pod));
    struct kubectl_pod found = {.pod = pod,
                                .obstacle = obstacle_of(a, object),
                                .remark = remark_of(a, object)};
    struct kube_owner owner;
    struct error err;

    if (!kube_pod_read(a, object, pod, &err)) {
        kubectl_failure_set(why, KUBECTL_OTHER, "%.400s", err.text);
        return false;
    }
    found.name = pod->name;
    found.is_annotated = kube_pod_is_annotated(pod);
    found.service = service_of(a, pod);
    found.namespace_name = pod->namespace_name;
    owner = kube_pod_owner(pod);
    if (owner.name.n)
        found.owner =
            str_from(arena_printf(a, "%" STR_FMT "/%" STR_FMT,
                                  STR_ARG(owner.kind), STR_ARG(owner.name)));
    if (!has(out, pod))
        *vec_push(a, &out->list) = found;
    return true;
}

static bool add_all(struct arena *a, const struct node *list,
                    struct kubectl_pods *out, struct kubectl_failure *why)
{
    const struct node *items = child(list, "items");

    for (size_t i = 0; items && items->kind == NODE_LIST && i < items->n; i++)
        if (!add(a, items->items[i], out, why))
            return false;
    return true;
}

static bool find_selected(struct arena *a, const struct kubectl *k,
                          const struct kubectl_query *q, const char *selector,
                          struct kubectl_pods *out, struct kubectl_failure *why)
{
    const char *args[12] = {"get", "pods", "-o", "json"};
    size_t n = 4;
    const struct node *list;

    if (q->all_namespaces) {
        args[n++] = "--all-namespaces";
    } else if (q->namespace_name) {
        args[n++] = "--namespace";
        args[n++] = q->namespace_name;
    }
    if (selector) {
        args[n++] = "--selector";
        args[n++] = selector;
    }
    list = get(a, k, args, why);
    return list && add_all(a, list, out, why);
}

static bool find_named(struct arena *a, const struct kubectl *k,
                       const struct kubectl_query *q, const char *name,
                       struct kubectl_pods *out, struct kubectl_failure *why)
{
    const char *full =
        strchr(name, '/') ? name : arena_printf(a, "pod/%s", name);
    const char *args[8] = {"get", full, "-o", "json"};
    const struct node *object;
    const char *selector;

    if (q->namespace_name) {
        args[4] = "--namespace";
        args[5] = q->namespace_name;
    }
    object = get(a, k, args, why);
    if (!object)
        return false;
    if (str_eq(text_at(object, "kind"), STR("Pod")))
        return add(a, object, out, why);
    selector = kubectl_selector_of(a, object);
    if (!selector) {
        kubectl_failure_set(why, KUBECTL_OTHER,
                            "%s has no pods: it has no selector", name);
        return false;
    }
    return find_selected(a, k, q, selector, out, why);
}

bool kubectl_pods_find(struct arena *a, const struct kubectl *k,
                       const struct kubectl_query *q, struct kubectl_pods *out,
                       struct kubectl_failure *why)
{
    if (q->n_names == 0)
        return find_selected(a, k, q, q->selector, out, why);
    for (size_t i = 0; i < q->n_names; i++)
        if (!find_named(a, k, q, q->names[i], out, why))
            return false;
    return true;
}
