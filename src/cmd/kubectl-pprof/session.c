/*
 * Ctrl-C sets a flag that every wait looks at, so that files are complete,
 * kubectl is ended and a summary is printed before the program ends.
 */
#include "cmd/kubectl-pprof/session.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile sig_atomic_t stopped;

static void on_interrupt(int number)
{
    (void)number;
    stopped = 1;
}

bool session_is_stopped(void)
{
    return stopped;
}

static void show_command(void *arg, const char *line)
{
    (void)arg;
    fprintf(stderr, "+ %s\n", line);
}

/* A port-forward is never reached through a proxy. */
static void keep_proxies_away(struct arena *a)
{
    static const char *const names[] = {"no_proxy", "NO_PROXY"};

    for (size_t i = 0; i < 2; i++) {
        const char *old = getenv(names[i]);

        setenv(names[i],
               old && *old ? arena_printf(a, "%s,127.0.0.1", old) : "127.0.0.1",
               1);
    }
}

void session_init(struct session *s, struct arena *a,
                  const struct arguments *args)
{
    struct sigaction action = {.sa_handler = on_interrupt};
    const char *program = getenv("KUBECTL");

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    keep_proxies_away(a);
    *s = (struct session){
        .arena = a,
        .args = args,
        .secret = KUBECTL_SECRET_INIT,
        .kubectl = {.program = program && *program ? program : "kubectl",
                    .flags = args->kubectl_flags.list.v,
                    .n_flags = args->kubectl_flags.list.n,
                    .stop = &stopped,
                    .show = args->verbose ? show_command : NULL}};
}

void session_release(struct session *s)
{
    kubectl_secret_release(&s->secret);
}

void session_say(const char *fmt, ...)
{
    char line[4096];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(line, sizeof(line), fmt, ap);
    va_end(ap);
    fprintf(stderr, "kubectl pprof: %s\n", line);
}

int session_fail(struct session *s, const char *what,
                 const struct kubectl_failure *why)
{
    if (stopped || why->trouble == KUBECTL_STOPPED) {
        session_say("interrupted");
        return EXIT_INTERRUPTED;
    }
    if (why->trouble == KUBECTL_FORBIDDEN)
        session_note_rights(s, &why->right, 1);
    if (what)
        session_say("%s: %s", what, why->words);
    else
        session_say("%s", why->words);
    return EXIT_FAILED;
}

void session_note_rights(struct session *s, const struct kube_right *rights,
                         size_t n)
{
    for (size_t i = 0; i < n; i++)
        *vec_push(s->arena, &s->missing) = rights[i];
    s->has_choice = s->has_choice || n > 1;
}

void session_print_rights(const struct session *s)
{
    struct buf b = BUF_INIT(BUF_OF_TOOL);

    if (s->missing.n == 0)
        return;
    kube_rights_print(s->missing.v, s->missing.n, &b);
    fprintf(
        stderr,
        "\nYou lack permission. Ask an administrator for these RBAC rules%s:"
        "\n\n%s",
        s->has_choice ? " (any one of them is enough)" : "", buf_cstr(&b));
    buf_release(&b);
}

static bool load_secret(struct session *s, const char *name)
{
    struct kubectl_failure why;

    if (kubectl_secret_load(s->arena, &s->kubectl, s->args->namespace_name,
                            name, &s->secret, &why))
        return true;
    session_fail(s, arena_printf(s->arena, "secret %s", name), &why);
    return false;
}

/* Long enough for all profiles of a pod. */
static int debug_seconds(const struct arguments *args)
{
    int profiles = 2;

    for (const char *c = args->profiles ? args->profiles : ""; *c; c++)
        profiles += *c == ',';
    return profiles * (args->seconds + 60);
}

bool session_prepare(struct session *s)
{
    const struct arguments *args = s->args;
    const char *secret = args->cert_secret;
    struct error err;

    if (args->preset) {
        if (!preset_load(s->arena, args->preset, &s->preset, &err)) {
            session_say("%s", err.text);
            return false;
        }
        if (!secret && s->preset.secret.n)
            secret = arena_cstr(s->arena, s->preset.secret);
    }
    if (secret && !load_secret(s, secret))
        return false;
    s->way = (struct way_options){
        .kubectl = &s->kubectl,
        .kind = arguments_way(args, &err),
        .container = args->container,
        .cert = s->secret.cert,
        .key = s->secret.key,
        .ca = s->secret.ca,
        .server_name = str_from(args->server_name),
        .token_file = str_from(args->token_file),
        .debug_image = !args->debug  ? NULL
                       : args->image ? args->image
                                     : KUBECTL_DEBUG_IMAGE,
        .debug_seconds = debug_seconds(args),
    };
    if (err.text[0])
        session_say("%s", err.text);
    return !err.text[0];
}

static struct kubectl_query query_of(struct session *s,
                                     const struct words *names)
{
    const struct arguments *args = s->args;
    const struct preset *p = &s->preset;
    struct kubectl_query q = {.namespace_name = args->namespace_name,
                              .all_namespaces = args->all_namespaces,
                              .selector = args->selector,
                              .names = names->list.v,
                              .n_names = names->list.n};

    if (!q.namespace_name && !q.all_namespaces && p->namespace_name.n)
        q.namespace_name = arena_cstr(s->arena, p->namespace_name);
    if (!q.selector && !q.n_names && p->selector.n)
        q.selector = arena_cstr(s->arena, p->selector);
    return q;
}

/* Keeps those that ask for it. */
static void keep_annotated(struct kubectl_pods *pods)
{
    size_t kept = 0;

    for (size_t i = 0; i < pods->list.n; i++)
        if (pods->list.v[i].is_annotated)
            pods->list.v[kept++] = pods->list.v[i];
    pods->list.n = kept;
}

/* Keeps those that can be reached; names the others. */
static void drop_unreachable(struct kubectl_pods *pods)
{
    size_t kept = 0, found = pods->list.n;

    for (size_t i = 0; i < pods->list.n; i++) {
        struct kubectl_pod *p = &pods->list.v[i];

        if (p->obstacle.n == 0)
            pods->list.v[kept++] = *p;
        else
            session_say("pod %" STR_FMT " %" STR_FMT, STR_ARG(p->name),
                        STR_ARG(p->obstacle));
    }
    pods->list.n = kept;
    if (kept == 0 && found > 1)
        session_say("none of the pods runs");
}

bool session_find_pods(struct session *s, const struct words *names,
                       struct kubectl_pods *out, int *code)
{
    struct kubectl_query q = query_of(s, names);
    struct kubectl_failure why;

    *code = EXIT_FAILED;
    if (!q.n_names && !q.selector && !q.all_namespaces && !s->args->annotated &&
        !s->args->preset) {
        session_say("which pod? Give POD, TYPE/NAME, -l SELECTOR or --preset "
                    "NAME; `kubectl pprof targets` lists what there is");
        *code = EXIT_USAGE;
        return false;
    }
    if (!kubectl_pods_find(s->arena, &s->kubectl, &q, out, &why)) {
        *code = session_fail(s, NULL, &why);
        return false;
    }
    if (s->args->annotated)
        keep_annotated(out);
    if (out->list.n == 0) {
        session_say("no pods found");
        if (s->args->annotated) /* nobody asks for it: nothing is wrong */
            *code = EXIT_OK;
        return false;
    }
    drop_unreachable(out);
    return out->list.n > 0;
}
