/*
 * Every pod is probed as if it were to be profiled, so what the table says is
 * what `top` would find.
 */
#include "cmd/kubectl-pprof/targets.h"

#include <stdio.h>
#include <string.h>

#include "cmd/kubectl-pprof/gather.h"

/* A row of the table; texts are from the session's arena. */
struct row {
    const char *space, *pod, *where, *profiles;
};

static bool look(struct job *job)
{
    return job->way.kind != WAY_RAW; /* found: that is all */
}

static const char *where_of(struct session *s, const struct job *job)
{
    const struct way *w = &job->way;

    if (!job->ok)
        return "-";
    return arena_printf(s->arena, "%u/%s %s", w->port,
                        w->https ? "https" : "http", way_name(w->kind));
}

static const char *profiles_of(struct session *s, const struct job *job)
{
    struct buf b = arena_buf(s->arena);

    for (size_t i = 0; i < job->way.index.list.n; i++) {
        struct str name = job->way.index.list.v[i].name;

        if (gather_is_profile(name))
            buf_addf(&b, "%s%" STR_FMT, b.len ? "," : "", STR_ARG(name));
    }
    return b.len ? buf_cstr(&b) : "no index page, but cmdline answers";
}

static size_t width(const struct row *rows, size_t n, size_t offset)
{
    size_t widest = 0;

    for (size_t i = 0; i < n; i++) {
        size_t len =
            strlen(*(const char *const *)((const char *)&rows[i] + offset));

        widest = len > widest ? len : widest;
    }
    return widest;
}

static void print(const struct row *rows, size_t n)
{
    int space = (int)width(rows, n, offsetof(struct row, space));
    int pod = (int)width(rows, n, offsetof(struct row, pod));
    int where = (int)width(rows, n, offsetof(struct row, where));

    for (size_t i = 0; i < n; i++)
        printf("%-*s  %-*s  %-*s  %s\n", space, rows[i].space, pod, rows[i].pod,
               where, rows[i].where, rows[i].profiles);
}

static struct row row_of(struct session *s, const struct kubectl_pod *pod,
                         const struct job *job)
{
    struct row r = {arena_cstr(s->arena, pod->namespace_name),
                    arena_cstr(s->arena, pod->name), "-", NULL};

    if (!job)
        r.profiles =
            arena_printf(s->arena, "%" STR_FMT, STR_ARG(pod->obstacle));
    else if (!job->ok)
        r.profiles = arena_printf(s->arena, "%s", job->why.words);
    else
        r.profiles = profiles_of(s, job);
    if (job)
        r.where = where_of(s, job);
    if (pod->remark.n)
        r.profiles = arena_printf(s->arena, "%s; %" STR_FMT, r.profiles,
                                  STR_ARG(pod->remark));
    return r;
}

static struct kubectl_query query_of(const struct session *s)
{
    const struct arguments *args = s->args;

    return (struct kubectl_query){.namespace_name = args->namespace_name,
                                  .all_namespaces = args->all_namespaces,
                                  .selector = args->selector,
                                  .names = args->names.list.v,
                                  .n_names = args->names.list.n};
}

static size_t prepare(struct session *s, const struct kubectl_pods *pods,
                      struct jobs *jobs)
{
    jobs->v = arena_new_array(s->arena, struct job, pods->list.n + 1);
    for (size_t i = 0; i < pods->list.n; i++)
        if (pods->list.v[i].obstacle.n == 0)
            jobs->v[jobs->n++] = (struct job){
                .session = s, .pod = &pods->list.v[i], .arena = arena_new()};
    return jobs->n;
}

int targets_list(struct session *s)
{
    struct kubectl_query q = query_of(s);
    struct kubectl_pods pods = {0};
    struct kubectl_failure why;
    struct jobs jobs = {0};
    struct row *rows;
    size_t job = 0, found = 0;

    if (s->args->debug) {
        session_say("targets only looks; --debug would change every pod");
        return EXIT_USAGE;
    }
    if (!kubectl_pods_find(s->arena, &s->kubectl, &q, &pods, &why))
        return session_fail(s, NULL, &why);
    if (pods.list.n == 0) {
        session_say("no pods found");
        return EXIT_FAILED;
    }
    prepare(s, &pods, &jobs);
    gather_run(s, &jobs, look);
    rows = arena_new_array(s->arena, struct row, pods.list.n + 1);
    rows[0] = (struct row){"NAMESPACE", "POD", "PORT", "PROFILES"};
    for (size_t i = 0; i < pods.list.n; i++) {
        bool runs = pods.list.v[i].obstacle.n == 0;

        rows[i + 1] = row_of(s, &pods.list.v[i], runs ? &jobs.v[job] : NULL);
        found += runs && jobs.v[job].ok;
        job += runs;
    }
    print(rows, pods.list.n + 1);
    gather_release(&jobs);
    return session_is_stopped() ? EXIT_INTERRUPTED
           : found              ? EXIT_OK
                                : EXIT_FAILED;
}

static void print_field(const char *name, struct str value)
{
    if (value.n)
        printf("  %-10s %" STR_FMT "\n", name, STR_ARG(value));
}

static int print_preset(struct session *s, const char *name)
{
    struct preset p;
    struct error err;

    if (!preset_load(s->arena, name, &p, &err)) {
        session_say("%s", err.text);
        return EXIT_FAILED;
    }
    printf("%s: %" STR_FMT "\n", name, STR_ARG(p.about));
    print_field("namespace", p.namespace_name);
    print_field("selector", p.selector);
    if (p.port)
        printf("  %-10s %u\n", "port", p.port);
    print_field("scheme", p.scheme);
    print_field("path", p.path);
    print_field("secret", p.secret);
    print_field("raw", p.raw);
    print_field("note", p.note);
    return EXIT_OK;
}

int targets_presets(struct session *s)
{
    const struct words *names = &s->args->names;
    struct preset_names all = {0};
    int code = EXIT_OK;

    if (names->list.n && strcmp(names->list.v[0], "list") != 0)
        return print_preset(s, names->list.v[0]);
    preset_list(s->arena, &all);
    for (size_t i = 0; i < all.list.n; i++) {
        struct preset p;
        struct error err;

        if (preset_load(s->arena, all.list.v[i], &p, &err)) {
            printf("%-24s %" STR_FMT "\n", all.list.v[i], STR_ARG(p.about));
        } else {
            session_say("%s", err.text);
            code = EXIT_FAILED;
        }
    }
    return code;
}
