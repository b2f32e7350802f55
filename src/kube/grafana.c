/*
 * A table says what each type is by default.  Groups with the same address and
 * path prefix are joined by kube_pod_endpoints().
 */
#include "kube/grafana.h"

#include "kube/annotation_names.h"
#include "kube/ports.h"

static const struct type {
    struct str name;    /* in the annotation */
    struct str profile; /* ours */
    struct str path;    /* last part of the default path */
} types[] = {
    {STR_INIT("cpu"), STR_INIT("cpu"), STR_INIT("profile")},
    {STR_INIT("process_cpu"), STR_INIT("cpu"), STR_INIT("profile")},
    {STR_INIT("memory"), STR_INIT("allocs"), STR_INIT("allocs")},
    {STR_INIT("block"), STR_INIT("block"), STR_INIT("block")},
    {STR_INIT("goroutine"), STR_INIT("goroutine"), STR_INIT("goroutine")},
    {STR_INIT("mutex"), STR_INIT("mutex"), STR_INIT("mutex")},
    {STR_INIT("fgprof"), STR_INIT("fgprof"), STR_INIT("fgprof")},
    {STR_INIT("godeltaprof_memory"), STR_INIT("delta_heap"),
     STR_INIT("delta_heap")},
    {STR_INIT("godeltaprof_mutex"), STR_INIT("delta_mutex"),
     STR_INIT("delta_mutex")},
    {STR_INIT("godeltaprof_block"), STR_INIT("delta_block"),
     STR_INIT("delta_block")},
};

#define N_TYPES (sizeof(types) / sizeof(types[0]))

static struct str value(const struct kube_pod *pod, const struct type *type,
                        const char *what)
{
    for (size_t i = 0; i < pod->n_annotations; i++) {
        struct str name = pod->annotations[i].name;

        if (!str_has_prefix(name, STR(KUBE_GRAFANA)))
            continue;
        name = str_skip(name, sizeof(KUBE_GRAFANA) - 1);
        if (str_has_prefix(name, type->name) && name.n > type->name.n &&
            name.s[type->name.n] == '.' &&
            str_eq(str_skip(name, type->name.n + 1), str_from(what)))
            return str_trim(pod->annotations[i].value);
    }
    return STR("");
}

static bool is_asked(const struct kube_pod *pod, const struct type *type)
{
    return str_eq(value(pod, type, "scrape"), STR("true"));
}

bool grafana_is_asked(const struct kube_pod *pod)
{
    for (size_t i = 0; i < N_TYPES; i++)
        if (is_asked(pod, &types[i]))
            return true;
    return false;
}

/* "/x/debug/pprof/heap": the prefix is "/x/debug/pprof", the profile heap. */
static bool split_path(const struct type *type, struct str path,
                       struct kube_endpoint *e, struct error *err)
{
    ptrdiff_t slash = str_rfind_char(path, '/');
    struct str last = str_skip(path, (size_t)(slash + 1));
    bool is_heap =
        str_eq(type->name, STR("memory")) && str_eq(last, STR("heap"));

    e->prefix = STR(KUBE_DEFAULT_PREFIX);
    e->profiles = type->profile;
    if (path.n == 0)
        return true;
    if (slash < 0 || (!str_eq(last, type->path) && !is_heap))
        return error_set(err,
                         KUBE_GRAFANA "%" STR_FMT ".path: \"%" STR_FMT
                                      "\" does not end in /%" STR_FMT,
                         STR_ARG(type->name), STR_ARG(path),
                         STR_ARG(type->path));
    if (is_heap)
        e->profiles = STR("heap");
    if (!str_eq(type->profile, STR("fgprof")))
        e->prefix = str_first(path, (size_t)slash);
    return true;
}

static bool add_type(struct arena *a, const struct kube_pod *pod,
                     const struct type *type, struct kube_endpoints *out,
                     struct error *err)
{
    struct str port = value(pod, type, "port");
    struct str port_name = value(pod, type, "port_name");
    struct kube_endpoint e = {.scheme = value(pod, type, "scheme")};

    if (e.scheme.n == 0)
        e.scheme = STR("http");
    if (!str_eq(e.scheme, STR("http")) && !str_eq(e.scheme, STR("https")))
        return error_set(err,
                         KUBE_GRAFANA "%" STR_FMT ".scheme: \"%" STR_FMT
                                      "\" is neither http nor https",
                         STR_ARG(type->name), STR_ARG(e.scheme));
    if (!split_path(type, value(pod, type, "path"), &e, err))
        return false;
    if (port.n || port_name.n)
        return ports_add_word(a, pod, &e, port.n ? port : port_name, out,
                              err) ||
               error_wrap(err, KUBE_GRAFANA "%" STR_FMT ".%s",
                          STR_ARG(type->name), port.n ? "port" : "port_name");
    ports_add_all(a, pod, &e, out);
    return true;
}

bool grafana_endpoints(struct arena *a, const struct kube_pod *pod,
                       struct kube_endpoints *out, struct error *err)
{
    for (size_t i = 0; i < N_TYPES; i++)
        if (is_asked(pod, &types[i]) && !add_type(a, pod, &types[i], out, err))
            return false;
    return true;
}
