/*
 * Replies that are not profiles are passed on as the pod sent them.
 */
#include "cmd/kubectl-pprof/text.h"

#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "cmd/kubectl-pprof/gather.h"

#define DUMP_MAX     ((size_t)1 << 30)
#define DUMP_SECONDS 60

/* libpprof calls them threads, Go goroutines; both know the other's name. */
static bool fetch_dump(struct job *job)
{
    struct buf *out = job->data;

    return way_get(&job->way, "goroutine?debug=2", DUMP_SECONDS, out,
                   &job->why);
}

static bool fetch_trace(struct job *job)
{
    int seconds;
    const char *path =
        gather_path(job->arena, job->session->args, STR("trace"), &seconds);

    return way_get(&job->way, path, seconds, job->data, &job->why);
}

static struct buf *buffers(struct session *s, struct jobs *jobs)
{
    struct buf *all = arena_new_array(s->arena, struct buf, jobs->n);

    for (size_t i = 0; i < jobs->n; i++) {
        all[i] = BUF_INIT(DUMP_MAX);
        jobs->v[i].data = &all[i];
    }
    return all;
}

static bool print_dump(const struct job *job, const struct buf *text, bool many)
{
    struct error err;

    if (many)
        printf("==== %s\n", job->name);
    fflush(stdout);
    if (file_write_fd(STDOUT_FILENO, "/dev/stdout", buf_str(text), &err))
        return true;
    session_say("%s", err.text);
    return false;
}

static int finish(struct jobs *jobs, struct buf *all, int code)
{
    for (size_t i = 0; i < jobs->n; i++) {
        if (!jobs->v[i].ok) {
            if (!session_is_stopped())
                session_say("%s: %s", jobs->v[i].name, jobs->v[i].why.words);
            code = EXIT_FAILED;
        }
        buf_release(&all[i]);
    }
    gather_release(jobs);
    return session_is_stopped() ? EXIT_INTERRUPTED : code;
}

int text_dump(struct session *s)
{
    struct jobs jobs = {0};
    int code = EXIT_OK;

    if (!gather_prepare(s, &s->args->names, &jobs, &code))
        return code;
    struct buf *all = buffers(s, &jobs);
    code = EXIT_OK;
    gather_run(s, &jobs, fetch_dump);
    for (size_t i = 0; i < jobs.n; i++)
        if (jobs.v[i].ok && !print_dump(&jobs.v[i], &all[i], jobs.n > 1))
            code = EXIT_FAILED;
    return finish(&jobs, all, code);
}

int text_trace(struct session *s)
{
    const char *path = s->args->output ? s->args->output : "trace.out";
    struct jobs jobs = {0};
    struct error err;
    int code = EXIT_OK;

    if (!gather_prepare(s, &s->args->names, &jobs, &code))
        return code;
    struct buf *all = buffers(s, &jobs);
    code = EXIT_OK;
    if (jobs.n > 1) {
        session_say("trace takes one pod, and these are %zu", jobs.n);
        gather_release(&jobs);
        return EXIT_USAGE;
    }
    gather_run(s, &jobs, fetch_trace);
    if (jobs.v[0].ok && !file_write(path, buf_str(&all[0]), &err)) {
        session_say("%s", err.text);
        code = EXIT_FAILED;
    } else if (jobs.v[0].ok) {
        printf("%s: %zu bytes; look at it with: go tool trace %s\n", path,
               all[0].len, path);
    }
    return finish(&jobs, all, code);
}
