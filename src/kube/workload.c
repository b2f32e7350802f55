/*
 * Names and paths in here are fixed, so that they are the same in every pod.
 * What the user has set already is left as it is.
 */
#include "kube/workload.h"

#include <string.h>

#include "base/json.h"

#define TLS_DIR     "/var/run/pprof-tls"
#define PRELOAD_DIR "/var/run/pprof"
#define PRELOAD     PRELOAD_DIR "/libpprof-preload.so"

#define NOTE_PATH "metadata/annotations/pprof~1enabled"

#define NATIVE_PORT 6060
#define TLS_PORT    8443

/* An edit in the making. */
struct plan {
    struct edit *e;
    struct arena *a;
    const struct workload_wish *wish;
    const char *template;  /* path of the pod template */
    const char *container; /* path of the container */
    const char *name;      /* of the container */
    const char *owner;     /* name of the workload */
};

static const char *json_of(struct arena *a, const char *text)
{
    struct buf b = arena_buf(a);

    buf_add_json(&b, str_from(text));
    return buf_cstr(&b);
}

static const char *text_at(struct plan *p, const char *path)
{
    struct buf b = arena_buf(p->a);

    return edit_text(p->e, path, &b) ? buf_cstr(&b) : NULL;
}

static const char *escaped(struct arena *a, const char *name)
{
    struct buf b = arena_buf(a);

    edit_escape(&b, str_from(name));
    return buf_cstr(&b);
}

static void annotate(struct plan *p, const char *key, const char *value)
{
    const char *path = arena_printf(p->a, "%s/metadata/annotations/%s",
                                    p->template, escaped(p->a, key));

    if (value && !edit_has(p->e, path))
        edit_put(p->e, path, json_of(p->a, value));
}

/* An item of a list, unless one of that name is there. */
static void add_named(struct plan *p, const char *list, const char *name,
                      const char *json)
{
    if (!edit_has(p->e, arena_printf(p->a, "%s/{name=%s}", list, name)))
        edit_add(p->e, list, "name", json);
}

static const char *in_container(struct plan *p, const char *what)
{
    return arena_printf(p->a, "%s/%s", p->container, what);
}

static void set_env(struct plan *p, const char *name, const char *value)
{
    if (value)
        add_named(p, in_container(p, "env"), name,
                  arena_printf(p->a, "{\"name\": \"%s\", \"value\": %s}", name,
                               json_of(p->a, value)));
}

static void set_env_field(struct plan *p, const char *name, const char *field)
{
    add_named(p, in_container(p, "env"), name,
              arena_printf(p->a,
                           "{\"name\": \"%s\", \"valueFrom\": {\"fieldRef\": "
                           "{\"apiVersion\": \"v1\", \"fieldPath\": \"%s\"}}}",
                           name, field));
}

static void add_volume(struct plan *p, const char *name, const char *source,
                       const char *directory)
{
    const char *mounts = in_container(p, "volumeMounts");

    add_named(p, arena_printf(p->a, "%s/spec/volumes", p->template), name,
              arena_printf(p->a, "{\"name\": \"%s\", %s}", name, source));
    if (!edit_has(p->e, arena_printf(p->a, "%s/{name=%s}", mounts, name)))
        edit_add(p->e, mounts, "name",
                 arena_printf(p->a,
                              "{\"name\": \"%s\", \"mountPath\": \"%s\", "
                              "\"readOnly\": true}",
                              name, directory));
}

static void declare_port(struct plan *p, unsigned port)
{
    const char *ports = in_container(p, "ports");
    size_t n = edit_count(p->e, ports);

    for (size_t i = 0; i < n; i++) {
        int64_t number;

        if (edit_nth_number(p->e, ports, i, "containerPort", &number) &&
            number == port)
            return;
    }
    add_named(p, ports, "pprof",
              arena_printf(p->a,
                           "{\"name\": \"pprof\", \"containerPort\": %u, "
                           "\"protocol\": \"TCP\"}",
                           port));
}

/* LD_PRELOAD may have a library already: ours comes last. */
static void set_preload(struct plan *p)
{
    const char *value = in_container(p, "env/{name=LD_PRELOAD}/value");
    const char *old = text_at(p, value);

    if (!old || !*old)
        set_env(p, "LD_PRELOAD", PRELOAD);
    else if (!strstr(old, PRELOAD))
        edit_put(p->e, value,
                 json_of(p->a, arena_printf(p->a, "%s:" PRELOAD, old)));
}

static void add_init_container(struct plan *p)
{
    const char *image = p->wish->image;

    add_named(
        p, arena_printf(p->a, "%s/spec/initContainers", p->template),
        "pprof-preload",
        arena_printf(
            p->a,
            "{\"name\": \"pprof-preload\", \"image\": %s, \"command\": "
            "[\"kubectl-pprof\", \"install-preload\", \"" PRELOAD_DIR "\"], "
            "\"resources\": {\"requests\": {\"cpu\": \"10m\", \"memory\": "
            "\"16Mi\"}, \"limits\": {\"memory\": \"64Mi\"}}, "
            "\"securityContext\": {\"allowPrivilegeEscalation\": false, "
            "\"readOnlyRootFilesystem\": true, \"runAsNonRoot\": true, "
            "\"capabilities\": {\"drop\": [\"ALL\"]}, \"seccompProfile\": "
            "{\"type\": \"RuntimeDefault\"}}, \"volumeMounts\": [{\"name\": "
            "\"pprof\", \"mountPath\": \"" PRELOAD_DIR "\"}]}",
            json_of(p->a, image)));
}

/* Without certificates the endpoint is on loopback: a port-forward reaches it,
 * other machines do not. */
static void enable_native(struct plan *p)
{
    unsigned port = p->wish->port ? p->wish->port : NATIVE_PORT;

    add_volume(p, "pprof", "\"emptyDir\": {\"sizeLimit\": \"64Mi\"}",
               PRELOAD_DIR);
    add_init_container(p);
    set_preload(p);
    set_env(p, "PPROF_ADDR",
            arena_printf(p->a, p->wish->mtls ? ":%u" : "127.0.0.1:%u", port));
    declare_port(p, port);
    if (p->wish->mtls) {
        set_env(p, "PPROF_TLS_CERT", TLS_DIR "/tls.crt");
        set_env(p, "PPROF_TLS_KEY", TLS_DIR "/tls.key");
        set_env(p, "PPROF_CLIENT_CA", TLS_DIR "/ca.crt");
    }
}

static void add_flag(struct plan *p, const char *flag, const char *file)
{
    edit_add(
        p->e, in_container(p, "args"), "",
        json_of(p->a, arena_printf(p->a, "%s=" TLS_DIR "/%s", flag, file)));
}

/* The server that has the profiles also answers the probes. */
static void move_probes(struct plan *p, unsigned port)
{
    static const char *const probes[] = {"livenessProbe", "readinessProbe",
                                         "startupProbe"};

    for (size_t i = 0; i < sizeof(probes) / sizeof(*probes); i++) {
        const char *get =
            in_container(p, arena_printf(p->a, "%s/httpGet", probes[i]));
        const char *scheme = text_at(p, arena_printf(p->a, "%s/scheme", get));

        if (!edit_has(p->e, get) || (scheme && strcmp(scheme, "HTTPS") == 0))
            continue;
        edit_put(p->e, arena_printf(p->a, "%s/scheme", get), "\"HTTPS\"");
        edit_put(p->e, arena_printf(p->a, "%s/port", get),
                 arena_printf(p->a, "%u", port));
    }
}

static bool has_flag(struct plan *p, const char *flag)
{
    const char *args = in_container(p, "args");
    size_t n = edit_count(p->e, args);

    for (size_t i = 0; i < n; i++) {
        struct buf word = arena_buf(p->a);

        if (edit_nth_text(p->e, args, i, "", &word) &&
            str_has_prefix(buf_str(&word), str_from(flag)))
            return true;
    }
    return false;
}

static bool enable_flags(struct plan *p, struct error *err)
{
    if (has_flag(p, "--tls-cert=" TLS_DIR))
        return true;
    if (has_flag(p, "--tls-cert") || has_flag(p, "--client-ca"))
        return error_set(err,
                         "container %s has --tls-cert or --client-ca already; "
                         "give its Secret with --cert-secret to top, flame ...",
                         p->name);
    if (!edit_has(p->e, in_container(p, "args")) &&
        !edit_has(p->e, in_container(p, "command")))
        return error_set(err,
                         "container %s has neither command nor args, so new "
                         "args would replace those of its image; write them "
                         "into the manifest first",
                         p->name);
    add_flag(p, "--tls-cert", "tls.crt");
    add_flag(p, "--tls-key", "tls.key");
    add_flag(p, "--client-ca", "ca.crt");
    declare_port(p, p->wish->port ? p->wish->port : TLS_PORT);
    move_probes(p, p->wish->port ? p->wish->port : TLS_PORT);
    return true;
}

static void enable_push(struct plan *p)
{
    set_env(p, "PPROF_COLLECTOR", p->wish->collector);
    set_env(p, "PPROF_SERVICE", p->wish->service ? p->wish->service : p->owner);
    set_env(p, "PPROF_PUSH", p->wish->profiles);
    set_env_field(p, "POD_NAME", "metadata.name");
    set_env_field(p, "POD_NAMESPACE", "metadata.namespace");
    set_env_field(p, "NODE_NAME", "spec.nodeName");
    set_env(p, "CONTAINER_NAME", p->name);
}

/* For collectors that fetch; a loopback endpoint and one that pushes have
 * nothing to be fetched. */
static void enable_scrape(struct plan *p)
{
    const struct workload_wish *w = p->wish;
    unsigned port = w->port                ? w->port
                    : w->mtls && w->native ? NATIVE_PORT
                    : w->mtls              ? TLS_PORT
                                           : 0;

    if ((w->native && !w->mtls) || (w->push && !w->mtls))
        return;
    annotate(p, "pprof/scrape", "true");
    annotate(p, "pprof/port", port ? arena_printf(p->a, "%u", port) : NULL);
    annotate(p, "pprof/scheme", w->mtls ? "https" : w->scheme);
    annotate(p, "pprof/path", w->path);
    annotate(p, "pprof/profiles", w->profiles);
    annotate(p, "pprof/service", w->service);
    annotate(p, "pprof/tls-secret", w->mtls ? w->secret : NULL);
}

static bool find_template(struct plan *p, struct error *err)
{
    static const char *const places[] = {"spec/template",
                                         "spec/jobTemplate/spec/template"};

    for (size_t i = 0; i < 2; i++)
        if (edit_has(p->e, places[i])) {
            p->template = places[i];
            return true;
        }
    return error_set(err, "it has no pod template: give a Deployment, "
                          "StatefulSet or DaemonSet");
}

static bool find_container(struct plan *p, struct error *err)
{
    const char *list = arena_printf(p->a, "%s/spec/containers", p->template);
    struct buf first = arena_buf(p->a);

    p->name = p->wish->container;
    if (!p->name)
        p->name =
            text_at(p, arena_printf(p->a,
                                    "%s/metadata/annotations/"
                                    "kubectl.kubernetes.io~1default-container",
                                    p->template));
    if (!p->name && edit_nth_text(p->e, list, 0, "name", &first))
        p->name = buf_cstr(&first);
    if (!p->name)
        return error_set(err, "its pod template has no container");
    p->container = arena_printf(p->a, "%s/{name=%s}", list, p->name);
    return edit_has(p->e, p->container) ||
           error_set(err, "it has no container %s", p->name);
}

const char *workload_secret(struct edit *e, struct arena *a)
{
    struct plan p = {.e = e, .a = a};
    struct error ignored;

    return find_template(&p, &ignored)
               ? text_at(&p, arena_printf(a,
                                          "%s/spec/volumes/{name=pprof-tls}/"
                                          "secret/secretName",
                                          p.template))
               : NULL;
}

static void write_note(struct plan *p)
{
    struct buf note = arena_buf(p->a);
    const char *old = text_at(p, NOTE_PATH);

    edit_make(p->e, "metadata/annotations");
    if (old)
        edit_note_before(p->e, str_from(old));
    edit_note(p->e, &note);
    edit_put_plain(p->e, NOTE_PATH, json_of(p->a, buf_cstr(&note)));
}

bool workload_enable(struct edit *e, struct arena *a,
                     const struct workload_wish *wish, struct error *err)
{
    struct plan p = {.e = e, .a = a, .wish = wish};

    if (!find_template(&p, err))
        return false;
    p.owner = text_at(&p, "metadata/name");
    if ((wish->mtls || wish->native || wish->push) && !find_container(&p, err))
        return false;
    if (wish->mtls)
        add_volume(&p, "pprof-tls",
                   arena_printf(a, "\"secret\": {\"secretName\": %s}",
                                json_of(a, wish->secret)),
                   TLS_DIR);
    if (wish->mtls && !wish->native && !enable_flags(&p, err))
        return false;
    if (wish->native)
        enable_native(&p);
    if (wish->push)
        enable_push(&p);
    enable_scrape(&p);
    if (edit_steps(e) > 0)
        write_note(&p);
    return true;
}

bool workload_disable(struct edit *e, struct arena *a, struct buf *kept,
                      struct error *err)
{
    struct plan p = {.e = e, .a = a};
    const char *note = text_at(&p, NOTE_PATH);

    if (!note)
        return error_set(err, "it was not changed by `kubectl pprof enable`");
    edit_put_plain(e, NOTE_PATH, NULL);
    edit_undo(e, str_from(note), kept);
    return true;
}
