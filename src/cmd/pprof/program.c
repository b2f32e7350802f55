/*
 * From the command line to a report, the shell or the page.
 */
#include "cmd/pprof/program.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "cmd/pprof/gate.h"
#include "cmd/pprof/help.h"
#include "cmd/pprof/load_profile.h"
#include "cmd/pprof/options.h"
#include "cmd/pprof/output.h"
#include "cmd/pprof/serve.h"
#include "cmd/pprof/shell.h"
#include "cmd/pprof/ui.h"

#define EXIT_OK     0
#define EXIT_FAILED 2
#define EXIT_GREW   3 /* -fail_above, -fail_above_share */

enum help_form {
    HELP_COMPATIBLE, /* google/pprof's, byte for byte, unless a person reads */
    HELP_WITH_HINT,
    HELP_ALL,
};

static void show_usage(enum help_form form)
{
    bool all = form == HELP_ALL || isatty(STDERR_FILENO);
    struct buf b = BUF_INIT(BUF_OF_TOOL);

    help_add_usage(&b, all);
    if (form == HELP_WITH_HINT && !all)
        help_add_hint(&b);
    ui_write(buf_str(&b));
    buf_release(&b);
}

static int show_version(void)
{
    return puts("pprof " PPROF_VERSION) < 0 || fflush(stdout) != 0 ? EXIT_FAILED
                                                                   : EXIT_OK;
}

static int fail(const struct error *err)
{
    ui_say("pprof: %s", err->text);
    return EXIT_FAILED;
}

/* A profile that came through stdin leaves the shell nothing to read: then
 * it reads from the terminal, if there is one. */
static void free_stdin(const struct options *o)
{
    for (size_t i = 0; i < o->n_sources; i++) {
        int fd;

        if (strcmp(o->sources[i], "-") != 0 || !isatty(STDERR_FILENO) ||
            (fd = open("/dev/tty", O_RDONLY | O_CLOEXEC)) < 0)
            continue;
        dup2(fd, STDIN_FILENO);
        close(fd);
        return;
    }
}

/* What the command line asks for, made of the profile. */
static bool show(const struct options *o, struct profile *p, struct error *err)
{
    struct output_request request = {.command = o->command,
                                     .argument = o->argument,
                                     .config = &o->config,
                                     .tools = o->tools};

    if (o->command)
        return output_report(p, &request, err);
    if (gate_is_wanted(o)) /* a check in CI is not interactive */
        return true;
    free_stdin(o);
    shell_run(p, &o->config, o->tools);
    return true;
}

static int serve(const struct options *o)
{
    struct profile_pair profiles;
    struct error err;

    if (!source_load_apart(o, &profiles, &err) ||
        !serve_page(o, profiles, &err))
        return fail(&err);
    return EXIT_OK;
}

static int run(const struct options *o)
{
    struct buf index = BUF_INIT(BUF_OF_TOOL);
    struct error err;
    struct profile *p;

    if (source_list_index(o, &index, &err)) {
        bool written =
            file_write_fd(STDOUT_FILENO, "/dev/stdout", buf_str(&index), &err);

        buf_release(&index);
        return written ? EXIT_OK : fail(&err);
    }
    if (err.text[0])
        return fail(&err);
    if (o->http.n)
        return serve(o);
    p = load_profile_load(o, &err);
    if (!p)
        return fail(&err);
    enum gate gate = gate_check(o, p, &err);
    bool ok =
        gate != GATE_FAILED && source_unmark(o, &p, &err) && show(o, p, &err);
    profile_free(p);
    if (!ok)
        return fail(&err);
    return gate == GATE_CLOSED ? EXIT_GREW : EXIT_OK;
}

int program_run(int argc, char *const *argv)
{
    struct arena *a = arena_new();
    struct buf warnings = BUF_INIT(BUF_OF_TOOL);
    struct options o;
    struct error err;
    int code = EXIT_FAILED;

    switch (options_parse(&o, a, argc, argv, &warnings, &err)) {
    case OPTIONS_OK:
        ui_write(buf_str(&warnings));
        code = run(&o);
        break;
    case OPTIONS_HELP:
        show_usage(HELP_COMPATIBLE);
        code = EXIT_OK;
        break;
    case OPTIONS_HELP_HINT:
        show_usage(HELP_WITH_HINT);
        code = EXIT_OK;
        break;
    case OPTIONS_HELP_ALL:
        show_usage(HELP_ALL);
        code = EXIT_OK;
        break;
    case OPTIONS_VERSION:
        code = show_version();
        break;
    case OPTIONS_BAD_FLAG:
        ui_say("%s", err.text);
        show_usage(HELP_COMPATIBLE);
        break;
    case OPTIONS_NOTHING:
        show_usage(HELP_COMPATIBLE);
        code = fail(&err);
        break;
    case OPTIONS_BAD:
        ui_write(buf_str(&warnings));
        code = fail(&err);
        break;
    }
    buf_release(&warnings);
    arena_free(a);
    return code;
}
