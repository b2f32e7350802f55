/*
 * pprof-run: starts a program with libpprof-preload.so in it.
 *
 * It sets the environment, checks what can be checked, and becomes the
 * program: process id, signals and exit status are the program's own.  Only
 * to merge profiles (-merge) it stays the program's parent.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "cmd/pprof-run/merge_run.h"
#include "cmd/pprof-run/options.h"
#include "cmd/pprof-run/preload.h"
#include "cmd/pprof-run/tree_server.h"
#include "runtime/endpoint/serve_options.h"

static int fail(const struct error *err)
{
    fprintf(stderr, "pprof-run: %s\n", err->text);
    return 2;
}

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);

    return value && *value;
}

static bool prepare(const struct run_options *o, struct error *err)
{
    return run_options_resolve_files(err) && run_options_check(o, err) &&
           preload_set(err);
}

static int run_and_merge(char **argv)
{
    struct error err;
    struct merge_run *m = merge_run_new(&err);
    int status;

    if (!m)
        return fail(&err);
    status = merge_run_wait(m, argv);
    merge_run_free(m);
    merge_run_end_like(status);
}

int main(int argc, char **argv)
{
    struct run_options o;
    struct error err;

    if (!run_options_read(&o, argc, argv, &err))
        return fail(&err);
    if (o.wants_help)
        return fputs(run_options_usage, stdout) < 0;
    if (o.wants_version)
        return puts("pprof-run " PPROF_VERSION) < 0;
    if (o.program >= argc) {
        fputs(run_options_usage, stderr);
        return 2;
    }
    if (!prepare(&o, &err))
        return fail(&err);
    preload_explain(argv[o.program]);
    if (!run_options_measure())
        fputs("pprof-run: nothing is measured: give -addr, -cpuprofile, "
              "-collector or another profile option; pprof-run -h lists them\n",
              stderr);
    if (serve_options_wanted() && is_set("PPROF_CHILDREN") &&
        !tree_server_start(argv[o.program], &err))
        return fail(&err);
    if (o.merge)
        return run_and_merge(argv + o.program);
    execvp(argv[o.program], argv + o.program);
    fprintf(stderr, "pprof-run: %s: %s\n", argv[o.program], strerror(errno));
    return errno == ENOENT ? 127 : 126;
}
