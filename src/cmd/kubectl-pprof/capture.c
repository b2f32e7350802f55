/*
 * The profiles of one pod are fetched one after another and those of
 * different pods at the same time: a second profile of the same pod would
 * show up in the first.
 */
#include "cmd/kubectl-pprof/capture.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/file.h"
#include "cmd/kubectl-pprof/collector.h"
#include "cmd/kubectl-pprof/gather.h"

#define PROFILE_MAX ((size_t)1 << 30)

/* What there is to say of a pod. */
struct capture {
    struct str profiles;
    const char *dir;   /* NULL: to the collector */
    const char *stamp; /* 20260131T080000Z */
    size_t captured, bytes;
    char problems[600];
};

static void note_problem(struct capture *c, struct str profile,
                         const char *words)
{
    size_t n = strlen(c->problems);

    snprintf(c->problems + n, sizeof(c->problems) - n, "%s%" STR_FMT ": %s",
             n ? "; " : "", STR_ARG(profile), words);
}

static bool keep(struct job *job, struct capture *c, struct str profile,
                 struct str bytes, struct error *err)
{
    struct session *s = job->session;
    struct str space = job->pod ? job->pod->namespace_name : STR("cluster");

    if (!c->dir)
        return collector_send(
            s, job->arena,
            &(struct collector_profile){
                .service = s->args->service ? str_from(s->args->service)
                           : job->pod       ? collector_service(job->pod)
                                            : str_from(job->name),
                .type = profile,
                .namespace_name = space,
                .pod = str_from(job->name),
                .bytes = bytes},
            err);
    return file_write(
        arena_printf(job->arena, "%s/%" STR_FMT "_%s_%" STR_FMT "_%s.%s",
                     c->dir, STR_ARG(space), job->name, STR_ARG(profile),
                     c->stamp,
                     str_eq(profile, STR("trace")) ? "trace" : "pb.gz"),
        bytes, err);
}

static bool capture_one(struct job *job, struct capture *c, struct str profile)
{
    struct buf bytes = BUF_INIT(PROFILE_MAX);
    struct kubectl_failure why;
    struct error err;
    int seconds;
    const char *path =
        gather_path(job->arena, job->session->args, profile, &seconds);
    bool ok = way_get(&job->way, path, seconds, &bytes, &why);

    if (!ok)
        note_problem(c, profile, why.words);
    else if (!(ok = keep(job, c, profile, buf_str(&bytes), &err)))
        note_problem(c, profile, err.text);
    if (ok) {
        c->captured++;
        c->bytes += bytes.len;
    }
    buf_release(&bytes);
    return ok;
}

static bool capture_pod(struct job *job)
{
    struct capture *c = job->data;
    struct str rest = c->profiles, profile;
    bool ok = true;

    while (str_split(&rest, ',', &profile) && !session_is_stopped()) {
        profile = str_trim(profile);
        if (profile.n)
            ok = capture_one(job, c, profile) && ok;
    }
    fprintf(stderr, "%s: %zu profile%s, %zu bytes, by %s%s%s\n", job->name,
            c->captured, c->captured == 1 ? "" : "s", c->bytes,
            way_name(job->way.kind), c->problems[0] ? "; " : "", c->problems);
    if (!ok)
        kubectl_failure_set(&job->why, KUBECTL_OTHER, "%s", c->problems);
    return ok;
}

static const char *make_directory(struct session *s, const char *stamp)
{
    const char *dir = s->args->output
                          ? s->args->output
                          : arena_printf(s->arena, "pprof-%s", stamp);

    if (mkdir(dir, 0777) == 0 || errno == EEXIST)
        return dir;
    session_say("mkdir %s: %s", dir, strerror(errno));
    return NULL;
}

static int summarize(const struct jobs *jobs, const struct capture *captures,
                     const char *where)
{
    size_t profiles = 0, pods = 0;

    for (size_t i = 0; i < jobs->n; i++) {
        profiles += captures[i].captured;
        pods += captures[i].captured > 0;
        if (!jobs->v[i].ok && captures[i].problems[0] == '\0' &&
            !session_is_stopped())
            fprintf(stderr, "%s: %s\n", jobs->v[i].name, jobs->v[i].why.words);
    }
    printf("%zu profile%s of %zu of %zu pod%s in %s\n", profiles,
           profiles == 1 ? "" : "s", pods, jobs->n, jobs->n == 1 ? "" : "s",
           where);
    for (size_t i = 0; i < jobs->n; i++)
        if (!jobs->v[i].ok)
            return EXIT_FAILED;
    return EXIT_OK;
}

int capture_run(struct session *s)
{
    const struct arguments *args = s->args;
    struct jobs jobs = {0};
    struct capture *captures;
    char stamp[32];
    time_t now = time(NULL);
    struct tm parts;
    const char *dir = NULL;
    int code;

    strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", gmtime_r(&now, &parts));
    if (!gather_prepare(s, &args->names, &jobs, &code))
        return code;
    if (!args->collector && !(dir = make_directory(s, stamp)))
        return EXIT_FAILED;
    captures = arena_new_array(s->arena, struct capture, jobs.n);
    for (size_t i = 0; i < jobs.n; i++) {
        captures[i] = (struct capture){
            .profiles = str_from(args->profiles  ? args->profiles
                                 : args->profile ? args->profile
                                                 : "cpu,heap"),
            .dir = dir,
            .stamp = stamp};
        jobs.v[i].data = &captures[i];
    }
    gather_run(s, &jobs, capture_pod);
    code = summarize(&jobs, captures, dir ? dir : args->collector);
    gather_release(&jobs);
    return session_is_stopped() ? EXIT_INTERRUPTED : code;
}
