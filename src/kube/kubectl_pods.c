/*
 * `kubectl get -o json` and nothing else: the forms for people change between
 * versions.  A workload is turned into the label selector that it has itself,
 * so that every kind with a selector works, those of custom resources too.
 */
#include "kube/kubectl_pods.h"

#include <stdlib.h>
#include <string.h>

#include "kube/annotations.h"
#include "kube/kubectl_json.h"
#include "kube/owner.h"
#include "kube/pod.h"

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
    struct str key = kubectl_json_text(e, "key"),
               op = kubectl_json_text(e, "operator");
    const struct node *values = kubectl_json_at(e, "values");

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
    const struct node *selector =
        kubectl_json_at(kubectl_json_at(object, "spec"), "selector");
    const struct node *list = kubectl_json_at(selector, "matchExpressions");
    struct buf b = arena_buf(a);

    if (!selector || selector->kind != NODE_MAP)
        return NULL;
    if (kubectl_json_at(selector, "matchLabels") || list) {
        add_labels(kubectl_json_at(selector, "matchLabels"), &b);
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
    const struct node *list = kubectl_json_at(status, "containerStatuses");
    bool any_runs = false;
    struct str reason = STR("");

    for (size_t i = 0; list && i < list->n; i++) {
        const struct node *state = kubectl_json_at(list->items[i], "state");
        struct str why =
            kubectl_json_text(kubectl_json_at(state, "waiting"), "reason");

        if (why.n == 0)
            why = kubectl_json_text(kubectl_json_at(state, "terminated"),
                                    "reason");
        any_runs = any_runs || kubectl_json_at(state, "running");
        if (reason.n == 0)
            reason = why;
    }
    return any_runs ? STR("") : reason;
}

static struct str obstacle_of(struct arena *a, const struct node *object)
{
    const struct node *status = kubectl_json_at(object, "status");
    struct str phase = kubectl_json_text(status, "phase");
    struct str reason = container_trouble(status);

    if (kubectl_json_at(kubectl_json_at(object, "metadata"),
                        "deletionTimestamp"))
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
        kubectl_json_at(kubectl_json_at(object, "status"), "containerStatuses");

    for (size_t i = 0; list && i < list->n; i++) {
        const struct node *last = kubectl_json_at(list->items[i], "lastState");
        struct str reason =
            kubectl_json_text(kubectl_json_at(last, "terminated"), "reason");

        if (str_eq(reason, STR("OOMKilled")))
            return str_from(arena_printf(
                a, "container %" STR_FMT " was OOMKilled before",
                STR_ARG(kubectl_json_text(list->items[i], "name"))));
    }
    return STR("");
}

/* The service name for the collector.  Invalid annotations are reported when
 * its port is determined. */
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
    const struct node *items = kubectl_json_at(list, "items");

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
    list = kubectl_json(a, k, args, why);
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
    object = kubectl_json(a, k, args, why);
    if (!object)
        return false;
    if (str_eq(kubectl_json_text(object, "kind"), STR("Pod")))
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
