/*
 * A thread opens the way to a pod, works and closes it again: a port-forward
 * ends with the thread that started it (kube/kubectl_run.h).  Threads take jobs
 * from a common counter.  Each job has an arena of its own, because arenas have
 * no locks; the thread that started them copies what outlives them.
 */
#include "cmd/kubectl-pprof/gather.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/thread.h"
#include "profile/diff.h"
#include "profile/read.h"
#include "profile/set_label.h"

#define MAX_THREADS   16
#define SPARE_SECONDS 60 /* for everything but the measuring itself */
#define PROFILE_MAX   ((size_t)1 << 30)

/* What the threads share. */
struct crew {
    struct jobs *jobs;
    bool (*work)(struct job *job);
    pthread_mutex_t lock;
    size_t next; /* guarded by lock */
};

static void say_debug_container(const struct job *job)
{
    const struct kubectl_debug *d = &job->way.debug;

    if (d->name[0])
        session_say("%s: has got the ephemeral container %s of image %s; it "
                    "ends after %d s, but cannot be removed from the pod",
                    job->name, d->name, d->image, d->seconds);
}

static bool open_way(struct job *job)
{
    struct session *s = job->session;
    const struct arguments *args = s->args;
    const struct preset *p = &s->preset;
    struct way_places places = {0};
    struct error err;

    if (!job->pod) {
        way_open_raw(&job->way, &s->way, job->raw);
        return true;
    }
    if (!way_places_find(
            job->arena, job->pod->pod, args->port ? args->port : p->port,
            args->scheme ? str_from(args->scheme) : p->scheme,
            args->path ? str_from(args->path) : p->path, &places, &err)) {
        kubectl_failure_set(&job->why, KUBECTL_OTHER, "%.400s", err.text);
        return false;
    }
    bool ok =
        way_open(&job->way, job->arena, &s->way, job->pod, &places, &job->why);
    say_debug_container(job);
    return ok;
}

static void run_job(struct job *job, bool (*work)(struct job *job))
{
    if (session_is_stopped()) {
        kubectl_failure_set(&job->why, KUBECTL_STOPPED, "interrupted");
        return;
    }
    job->ok = open_way(job) && work(job);
    way_close(&job->way);
}

static void *run_jobs(void *arg)
{
    struct crew *c = arg;

    for (;;) {
        pthread_mutex_lock(&c->lock);
        size_t i = c->next++;
        pthread_mutex_unlock(&c->lock);
        if (i >= c->jobs->n)
            return NULL;
        run_job(&c->jobs->v[i], c->work);
    }
}

void gather_run(struct session *s, struct jobs *jobs,
                bool (*work)(struct job *job))
{
    struct crew crew = {
        .jobs = jobs, .work = work, .lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_t threads[MAX_THREADS];
    size_t n = 0;

    while (n < jobs->n && n < MAX_THREADS &&
           thread_start(&threads[n], "pod", (size_t)1 << 20, run_jobs, &crew) ==
               0)
        n++;
    if (n == 0)
        run_jobs(&crew);
    for (size_t i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < jobs->n; i++) {
        struct job *job = &jobs->v[i];

        if (!job->ok && job->why.trouble == KUBECTL_FORBIDDEN &&
            !job->way.n_rights)
            session_note_rights(s, &job->why.right, 1);
        if (!job->ok)
            session_note_rights(s, job->way.rights, job->way.n_rights);
    }
}

static struct job *add_job(struct session *s, struct job *job)
{
    *job = (struct job){.session = s, .arena = arena_new()};
    return job;
}

/* The nodes' names, for a preset whose path has {node} in it. */
static bool prepare_nodes(struct session *s, const struct words *names,
                          struct jobs *out, int *code)
{
    struct str path = s->preset.raw;
    ptrdiff_t at = str_find(path, STR("{node}"));

    if (names->list.n == 0) {
        session_say("preset %s: which node? Give its name, or several",
                    s->args->preset);
        *code = EXIT_USAGE;
        return false;
    }
    out->n = names->list.n;
    out->v = arena_new_array(s->arena, struct job, out->n);
    for (size_t i = 0; i < out->n; i++) {
        const char *name = names->list.v[i];

        if (strncmp(name, "node/", 5) == 0)
            name += 5;
        add_job(s, &out->v[i])->name = name;
        out->v[i].raw = str_from(arena_printf(
            s->arena, "%" STR_FMT "%s%" STR_FMT,
            STR_ARG(str_first(path, (size_t)at)), name,
            STR_ARG(str_skip(path, (size_t)at + sizeof("{node}") - 1))));
    }
    return true;
}

bool gather_prepare(struct session *s, const struct words *names,
                    struct jobs *out, int *code)
{
    struct kubectl_pods pods = {0};

    if (s->preset.raw.n && str_contains(s->preset.raw, STR("{node}")))
        return prepare_nodes(s, names, out, code);
    if (s->preset.raw.n) {
        out->n = 1;
        out->v = arena_new_array(s->arena, struct job, 1);
        add_job(s, out->v)->name = s->args->preset;
        out->v->raw = s->preset.raw;
        return true;
    }
    if (!session_find_pods(s, names, &pods, code))
        return false;
    out->n = pods.list.n;
    out->v = arena_new_array(s->arena, struct job, out->n);
    for (size_t i = 0; i < out->n; i++) {
        add_job(s, &out->v[i])->pod = &pods.list.v[i];
        out->v[i].name = arena_cstr(s->arena, pods.list.v[i].name);
    }
    return true;
}

void gather_release(struct jobs *jobs)
{
    for (size_t i = 0; i < jobs->n; i++)
        arena_free(jobs->v[i].arena);
}

bool gather_is_profile(struct str name)
{
    return !str_eq(name, STR("cmdline")) && !str_eq(name, STR("symbol")) &&
           !str_eq(name, STR("full goroutine stack dump"));
}

static bool is_timed(struct str profile)
{
    return str_eq(profile, STR("profile")) || str_eq(profile, STR("trace")) ||
           str_eq(profile, STR("wall"));
}

const char *gather_path(struct arena *a, const struct arguments *args,
                        struct str profile, int *seconds)
{
    if (str_eq(profile, STR("cpu")))
        profile = STR("profile");
    *seconds = SPARE_SECONDS;
    if (!is_timed(profile))
        return arena_cstr(a, profile);
    *seconds += args->seconds;
    return arena_printf(a, "%" STR_FMT "?seconds=%d", STR_ARG(profile),
                        args->seconds);
}

/* "404 Unknown profile" is what most servers say. */
static void explain_missing(struct job *job, const char *profile)
{
    const struct index_entries *index = &job->way.index;
    struct buf b = arena_buf(job->arena);

    if (job->why.trouble != KUBECTL_NOT_FOUND || index->list.n == 0)
        return;
    for (size_t i = 0; i < index->list.n; i++)
        if (gather_is_profile(index->list.v[i].name))
            buf_addf(&b, "%s%" STR_FMT, b.len ? ", " : "",
                     STR_ARG(index->list.v[i].name));
    kubectl_failure_set(&job->why, KUBECTL_NOT_FOUND,
                        "it has no profile %.60s; it has %.400s", profile,
                        buf_cstr(&b));
}

static bool fetch(struct job *job)
{
    const struct arguments *args = job->session->args;
    struct buf bytes = BUF_INIT(PROFILE_MAX);
    struct error err;
    int seconds;
    const char *path =
        gather_path(job->arena, args,
                    str_from(args->profile ? args->profile : "cpu"), &seconds);

    if (job->way.kind == WAY_RAW)
        session_say("%s: %s, through the API server", job->name, path);
    else
        session_say("%s: %s from port %u, by %s", job->name, path,
                    job->way.port, way_name(job->way.kind));
    if (!way_get(&job->way, path, seconds, &bytes, &job->why)) {
        explain_missing(job, path);
        buf_release(&bytes);
        return false;
    }
    job->profile = profile_read_buf(&bytes, NULL, &err);
    if (!job->profile)
        kubectl_failure_set(&job->why, KUBECTL_OTHER, "%.400s", err.text);
    return job->profile != NULL;
}

/* Reports failures, and returns the profiles of the others. */
static size_t collect(struct session *s, struct jobs *jobs,
                      struct profile **out, int *code)
{
    size_t n = 0;

    *code = EXIT_OK;
    for (size_t i = 0; i < jobs->n; i++) {
        struct job *job = &jobs->v[i];

        if (!job->ok) {
            *code = session_is_stopped() ? EXIT_INTERRUPTED : EXIT_FAILED;
            if (!session_is_stopped())
                session_say("%s: %s", job->name, job->why.words);
            continue;
        }
        if (jobs->n > 1)
            profile_set_label(job->profile, STR("pod"), str_from(job->name));
        out[n++] = job->profile;
    }
    if (session_is_stopped())
        session_say("interrupted");
    (void)s;
    return n;
}

struct profile *gather_profile(struct session *s, const struct words *names,
                               int *code)
{
    struct profile *merged = NULL, **profiles;
    struct jobs jobs = {0};
    struct error err;

    if (!gather_prepare(s, names, &jobs, code))
        return NULL;
    gather_run(s, &jobs, fetch);
    profiles = arena_new_array(s->arena, struct profile *, jobs.n);
    size_t n = collect(s, &jobs, profiles, code);
    if (n == 1)
        merged = profiles[0];
    else if (n > 1 && !(merged = profile_combine(profiles, n, &err))) {
        session_say("the profiles cannot be merged: %s", err.text);
        *code = EXIT_FAILED;
    }
    gather_release(&jobs);
    return merged;
}
