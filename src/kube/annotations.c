/*
 * Ours and kube-profefe's annotations; Grafana's are in grafana.c.
 *
 * kube-profefe reads a port that is not a number as 6060 and ignores the path,
 * although it documents it.  Here the path works, and a port that is not a
 * number is an error: `profefe.com/port: http` does not mean 6060.
 */
#include "kube/annotations.h"

#include "base/time_text.h"
#include "kube/grafana.h"
#include "kube/ports.h"

#define DEFAULT_PORT 6060
#define MAX_SECONDS  3600

static struct str ours(const struct kube_pod *pod, const char *name)
{
    for (size_t i = 0; i < pod->n_annotations; i++) {
        struct str full = pod->annotations[i].name;

        if (str_has_prefix(full, STR(KUBE_OURS)) &&
            str_eq(str_skip(full, sizeof(KUBE_OURS) - 1), str_from(name)))
            return str_trim(pod->annotations[i].value);
    }
    return STR("");
}

/* "/a/b" whatever slashes were written. */
static struct str clean_path(struct arena *a, struct str path)
{
    while (path.n && path.s[path.n - 1] == '/')
        path = str_first(path, path.n - 1);
    if (path.n == 0 || path.s[0] == '/')
        return path;
    return str_from(arena_printf(a, "/%" STR_FMT, STR_ARG(path)));
}

static struct str prefix_of(struct arena *a, struct str path)
{
    return path.n ? clean_path(a, path) : STR(KUBE_DEFAULT_PREFIX);
}

static bool read_times(struct arena *a, const struct kube_pod *pod,
                       struct kube_endpoint *e, struct error *err)
{
    struct str seconds = ours(pod, "seconds"), interval = ours(pod, "interval");
    int64_t ns;

    if (seconds.n) {
        if (!duration_parse(seconds, &ns, err) || ns < 1000000000 ||
            ns > (int64_t)MAX_SECONDS * 1000000000)
            return error_set(err,
                             "pprof/seconds: \"%" STR_FMT "\" is not a number "
                             "of seconds from 1 to %d",
                             STR_ARG(seconds), MAX_SECONDS);
        e->seconds =
            str_from(arena_printf(a, "%lld", (long long)(ns / 1000000000)));
    }
    if (interval.n && (!duration_parse(interval, &ns, err) || ns <= 0))
        return error_set(err,
                         "pprof/interval: \"%" STR_FMT "\" is not a "
                         "duration such as 30s or 5m",
                         STR_ARG(interval));
    e->interval = interval;
    return true;
}

static bool read_scheme(const struct kube_pod *pod, struct kube_endpoint *e,
                        struct error *err)
{
    struct str scheme = ours(pod, "scheme");

    if (scheme.n == 0)
        scheme = e->tls_secret.n ? STR("https") : STR("http");
    if (!str_eq(scheme, STR("http")) && !str_eq(scheme, STR("https")))
        return error_set(err,
                         "pprof/scheme: \"%" STR_FMT "\" is neither http "
                         "nor https",
                         STR_ARG(scheme));
    e->scheme = scheme;
    return true;
}

/* A pod may name a Secret of its own namespace only: permission to write
 * annotations there does not imply permission to read Secrets elsewhere. */
static bool read_secret(struct arena *a, const struct kube_pod *pod,
                        struct kube_endpoint *e, struct error *err)
{
    struct str name = ours(pod, "tls-secret");
    ptrdiff_t slash = str_find_char(name, '/');

    if (name.n == 0)
        return true;
    if (slash >= 0) {
        if (!str_eq(str_first(name, (size_t)slash), pod->namespace_name))
            return error_set(err,
                             "pprof/tls-secret: \"%" STR_FMT "\" is in "
                             "another namespace than the pod",
                             STR_ARG(name));
        name = str_skip(name, (size_t)slash + 1);
    }
    e->tls_secret =
        str_from(arena_printf(a, "%" STR_FMT "/%" STR_FMT,
                              STR_ARG(pod->namespace_name), STR_ARG(name)));
    return true;
}

static bool read_profiles(const struct kube_pod *pod, struct kube_endpoint *e,
                          struct error *err)
{
    struct str text = ours(pod, "profiles");

    for (size_t i = 0; i < text.n; i++)
        if (str_digit(text.s[i]) == 99 && text.s[i] != '_' &&
            text.s[i] != '-' && text.s[i] != ',' && text.s[i] != ' ')
            return error_set(err,
                             "pprof/profiles: \"%" STR_FMT "\" is not a list "
                             "such as cpu,heap,mutex",
                             STR_ARG(text));
    e->profiles = text;
    return true;
}

static bool our_endpoints(struct arena *a, const struct kube_pod *pod,
                          struct kube_endpoints *out, struct error *err)
{
    struct str ports = ours(pod, "port"), word;
    struct kube_endpoint e = {
        .prefix = prefix_of(a, ours(pod, "path")),
        .service = ours(pod, "service"),
    };

    if (!read_secret(a, pod, &e, err) || !read_scheme(pod, &e, err) ||
        !read_times(a, pod, &e, err) || !read_profiles(pod, &e, err))
        return false;
    if (ports.n == 0) {
        if (!ports_add_usual(a, pod, &e, out))
            ports_add_number(a, pod, &e, DEFAULT_PORT, out);
        return true;
    }
    while (str_split(&ports, ',', &word))
        if (!ports_add_word(a, pod, &e, str_trim(word), out, err))
            return error_wrap(err, "pprof/port");
    return true;
}

static bool profefe_endpoints(struct arena *a, const struct kube_pod *pod,
                              struct kube_endpoints *out, struct error *err)
{
    struct str port =
        str_trim(kube_pod_annotation(pod, STR(KUBE_PROFEFE "port")));
    struct kube_endpoint e = {
        .scheme = STR("http"),
        .prefix = prefix_of(
            a, str_trim(kube_pod_annotation(pod, STR(KUBE_PROFEFE "path")))),
        .service = kube_pod_annotation(pod, STR(KUBE_PROFEFE "service")),
    };

    if (port.n == 0) {
        ports_add_number(a, pod, &e, DEFAULT_PORT, out);
        return true;
    }
    return ports_add_word(a, pod, &e, port, out, err) ||
           error_wrap(err, KUBE_PROFEFE "port");
}

static bool is_true(const struct kube_pod *pod, struct str name)
{
    return str_eq(kube_pod_annotation(pod, name), STR("true"));
}

bool kube_pod_is_annotated(const struct kube_pod *pod)
{
    if (ours(pod, "scrape").n)
        return str_eq(ours(pod, "scrape"), STR("true"));
    return is_true(pod, STR(KUBE_PROFEFE "enable")) || grafana_is_asked(pod);
}

static bool read_family(struct arena *a, const struct kube_pod *pod,
                        struct kube_endpoints *out, struct error *err)
{
    if (ours(pod, "scrape").n)
        return our_endpoints(a, pod, out, err);
    if (is_true(pod, STR(KUBE_PROFEFE "enable")))
        return profefe_endpoints(a, pod, out, err);
    return grafana_endpoints(a, pod, out, err);
}

bool kube_pod_endpoints(struct arena *a, const struct kube_pod *pod,
                        struct kube_endpoints *out, struct error *err)
{
    struct kube_endpoints list = {0};

    if (kube_pod_is_annotated(pod) && !read_family(a, pod, &list, err))
        return false;
    ports_join(a, &list);
    *out = list;
    return true;
}
