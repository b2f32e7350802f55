/*
 * pprof: reads profiles, makes reports.  The work is in cmd/pprof/.
 */
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "cmd/pprof/help.h"
#include "cmd/pprof/options.h"
#include "cmd/pprof/output.h"
#include "cmd/pprof/shell.h"
#include "cmd/pprof/source.h"
#include "cmd/pprof/ui.h"

#define EXIT_OK     0
#define EXIT_FAILED 2

static void show_usage(bool all)
{
    struct buf b = BUF_INIT(BUF_NO_LIMIT);

    help_add_usage(&b, all || isatty(STDERR_FILENO));
    ui_write(buf_str(&b));
    buf_release(&b);
}

static int fail(const struct error *err)
{
    ui_say("pprof: %s", err->text);
    return EXIT_FAILED;
}

static int run(const struct options *o)
{
    struct buf index = BUF_INIT(BUF_NO_LIMIT);
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
    p = source_load(o, &err);
    if (!p)
        return fail(&err);
    if (!o->command) {
        shell_run(p, &o->config, o->tools);
        profile_free(p);
        return EXIT_OK;
    }
    struct output_request request = {.command = o->command,
                                     .argument = o->argument,
                                     .config = &o->config,
                                     .tools = o->tools};
    bool ok = output_report(p, &request, &err);
    profile_free(p);
    return ok ? EXIT_OK : fail(&err);
}

int main(int argc, char **argv)
{
    struct arena *a = arena_new();
    struct buf warnings = BUF_INIT(BUF_NO_LIMIT);
    struct options o;
    struct error err;
    int code = EXIT_FAILED;

    switch (options_parse(&o, a, argc, argv, &warnings, &err)) {
    case OPTIONS_OK:
        ui_write(buf_str(&warnings));
        code = run(&o);
        break;
    case OPTIONS_HELP:
        show_usage(false);
        code = EXIT_OK;
        break;
    case OPTIONS_HELP_ALL:
        show_usage(true);
        code = EXIT_OK;
        break;
    case OPTIONS_BAD_FLAG:
        ui_say("%s", err.text);
        show_usage(false);
        break;
    case OPTIONS_NOTHING:
        show_usage(false);
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
