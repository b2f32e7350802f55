/*
 * kubectl-pprof: from a pod to a flame graph.  kubectl runs it as `kubectl
 * pprof`.  The work is in cmd/kubectl-pprof/.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/kubectl-pprof/capture.h"
#include "cmd/kubectl-pprof/enable.h"
#include "cmd/kubectl-pprof/help.h"
#include "cmd/kubectl-pprof/collected.h"
#include "cmd/kubectl-pprof/install_preload.h"
#include "cmd/kubectl-pprof/show.h"
#include "cmd/kubectl-pprof/targets.h"
#include "cmd/kubectl-pprof/text.h"
#include "config/suggest.h"

struct command_row {
    const char *name;
    int (*run)(struct session *s);
    bool wants_cluster; /* presets and certificates are looked up first */
};

static const struct command_row rows[] = {
    {"top", show_top, true},
    {"flame", show_flame, true},
    {"web", show_web, true},
    {"diff", show_diff, true},
    {"capture", capture_run, true},
    {"dump", text_dump, true},
    {"trace", text_trace, true},
    {"targets", targets_list, true},
    {"preset", targets_presets, false},
    {"get", collected_get, false},
    {"load", collected_load, false},
    {"enable", enable_run, false},
    {"disable", disable_run, false},
    {"install-preload", install_preload, false},
};

static const struct command_row *find(const char *name)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

static int complain(const char *command)
{
    const char *names[sizeof(rows) / sizeof(*rows)], *near;

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        names[i] = rows[i].name;
    near =
        suggest_word(str_from(command), names, sizeof(names) / sizeof(*names));
    if (near)
        session_say("no command %s; did you mean %s?", command, near);
    else
        session_say("no command %s; see kubectl pprof --help", command);
    return EXIT_USAGE;
}

static int show_help(FILE *to, int code)
{
    return fputs(help_text, to) < 0 || fflush(to) != 0 ? EXIT_FAILED : code;
}

static int run(struct arena *a, const struct arguments *args)
{
    const struct command_row *row;
    struct session s;
    int code = EXIT_FAILED;

    if (args->help || (args->command && strcmp(args->command, "help") == 0))
        return show_help(stdout, EXIT_OK);
    if (!args->command)
        return show_help(stderr, EXIT_USAGE);
    if (strcmp(args->command, "version") == 0)
        return puts("kubectl-pprof " PPROF_VERSION) < 0 ? EXIT_FAILED : EXIT_OK;
    row = find(args->command);
    if (!row)
        return complain(args->command);
    session_init(&s, a, args);
    if (!row->wants_cluster || session_prepare(&s))
        code = row->run(&s);
    session_print_rights(&s);
    session_release(&s);
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == EXIT_OK) {
        session_say("write: %s", strerror(errno));
        code = EXIT_FAILED;
    }
    return code;
}

int main(int argc, char **argv)
{
    struct arena *a = arena_new();
    struct arguments args;
    struct error err;
    int code = EXIT_USAGE;

    if (arguments_parse(&args, a, argc, argv, &err))
        code = run(a, &args);
    else
        session_say("%s", err.text);
    arena_free(a);
    return code;
}
