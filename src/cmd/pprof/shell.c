/*
 * Commands that change options are handled here.  Each report is made by job.c
 * in a process of its own, so that Ctrl-C, a closed pager or lack of memory
 * end the report and not the shell.  The words of help and messages are
 * google/pprof's.
 */
#include "cmd/pprof/shell.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/pprof/complete.h"
#include "cmd/pprof/help.h"
#include "cmd/pprof/interrupt.h"
#include "cmd/pprof/job.h"
#include "cmd/pprof/line.h"
#include "cmd/pprof/shell_line.h"
#include "cmd/pprof/ui.h"
#include "cmd/pprof/viewer.h"
#include "report/report.h"

struct shell {
    const struct profile *profile;
    struct str tools;
    struct report_config config;
    struct arena *arena;      /* for values of options, as long as the shell */
    bool terminal;            /* somebody is there: pipes, our own help */
    VEC(const char *) viewed; /* files to remove at the end */
};

static void greet(const struct shell *s)
{
    struct buf b = BUF_INIT(BUF_OF_TOOL), warnings = BUF_INIT(BUF_OF_TOOL);
    struct error err;
    int64_t total;

    bool ok = report_describe(s->profile, &s->config, &b, &warnings, &err);
    ui_write(buf_str(&warnings));
    if (ok && b.len == 0)
        buf_add_char(&b, '\n');
    if (ok)
        ui_write(buf_str(&b));
    if (ok && s->profile->types.n > 1 &&
        report_selected_total(s->profile, &s->config, &total, &err) &&
        total == 0) {
        ui_say("No samples were found with the default sample value type.");
        ui_say("Try \"sample_index\" command to analyze different sample "
               "values.");
    }
    ui_say("Entering interactive mode (type \"help\" for commands, \"o\" for "
           "options)");
    buf_release(&b);
    buf_release(&warnings);
}

/* "a | b": the types of the profile, or "a b". */
static void add_types(struct buf *out, const struct profile *p,
                      const char *between)
{
    buf_add_char(out, '[');
    for (size_t i = 0; i < p->types.n; i++) {
        if (i > 0)
            buf_add(out, str_from(between));
        buf_add(out, profile_str(p, p->types.v[i].type));
    }
    buf_add_char(out, ']');
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void add_choices(struct buf *out, const struct config_field *f)
{
    const char *sorted[8];
    size_t n = 0;

    while (f->choices[n] && n < sizeof(sorted) / sizeof(*sorted)) {
        sorted[n] = f->choices[n];
        n++;
    }
    qsort(sorted, n, sizeof(*sorted), by_text);
    for (size_t i = 0; i < n; i++)
        buf_addf(out, "%s%s", i ? " | " : "[", sorted[i]);
    buf_add_char(out, ']');
}

static void add_option(const struct shell *s, const struct config_field *f,
                       struct buf *out)
{
    const struct profile *p = s->profile;
    struct buf value = BUF_INIT(BUF_OF_TOOL);
    bool is_index = strcmp(f->name, "sample_index") == 0;

    config_get(&s->config, f, &value);
    if (value.len == 0 && is_index && p->types.n)
        buf_add(&value, profile_str(p, p->types.v[p->types.n - 1].type));
    else if (value.len == 0)
        buf_add(&value, f->choices ? STR("(default)") : STR("\"\""));
    buf_addf(out, "  %-25s = %-20s ", f->name, buf_cstr(&value));
    if (f->choices || is_index ||
        (f->kind == CONFIG_INT && str_eq(buf_str(&value), STR("-1"))))
        buf_add(out, STR("//: "));
    if (is_index)
        add_types(out, p, " | ");
    else if (f->choices)
        add_choices(out, f);
    else if (f->kind == CONFIG_INT && str_eq(buf_str(&value), STR("-1")))
        buf_add(out, STR("default"));
    buf_add_char(out, '\n');
    buf_release(&value);
}

static void show_options(const struct shell *s)
{
    struct arena *a = arena_new();
    struct buf b = BUF_INIT(BUF_OF_TOOL);
    const struct config_field **fields = help_sorted_fields(a);

    for (size_t i = 0; i < config_n_fields; i++)
        if (strcmp(fields[i]->name, "source_path") != 0)
            add_option(s, fields[i], &b);
    ui_write(buf_str(&b));
    buf_release(&b);
    arena_free(a);
}

static void add_overview(const struct shell *s, struct buf *out)
{
    buf_add(out, STR("  Commands:\n"));
    help_add_commands(out, "", false);
    buf_add(out,
            STR("    o/options        List options and their current values\n"
                "    q/quit/exit/^D   Exit pprof\n\n"));
    if (s->terminal) {
        buf_add(out, STR("  More commands:\n"));
        help_add_commands(out, "", true);
        buf_add(out, STR("    COMMAND | PROG   Give the report to a "
                         "program\n\n"));
    }
    help_add_options(out, "");
    buf_add(out, STR("  :   Clear focus/ignore/hide/tagfocus/tagignore\n"
                     "\n"
                     "  type \"help <cmd|option>\" for more information\n"));
}

/* A text that ends in LF is followed by an empty line. */
static void add_option_help(const struct shell *s, struct str name,
                            struct buf *out)
{
    buf_add(out, config_help(name));
    if (str_eq(name, STR("sample_index"))) {
        buf_add(out, STR("Or use sample_index=name, with name in "));
        add_types(out, s->profile, " ");
        buf_add(out, STR(".\n"));
    }
    buf_add_char(out, '\n');
}

static void show_help(const struct shell *s, struct str rest)
{
    struct buf b = BUF_INIT(BUF_OF_TOOL), name = BUF_INIT(BUF_OF_TOOL);
    struct str word;

    while (shell_next_word(&rest, &word)) {
        if (name.len)
            buf_add_char(&name, ' ');
        buf_add(&name, word);
    }
    const struct command *c = command_find(buf_str(&name));
    if (name.len == 0)
        add_overview(s, &b);
    else if (c)
        command_help(c, &b);
    else if (config_help(buf_str(&name)).n)
        add_option_help(s, buf_str(&name), &b);
    else
        ui_complain("Unknown command: %s", buf_cstr(&name));
    ui_write(buf_str(&b));
    buf_release(&b);
    buf_release(&name);
}

static void make_report(struct shell *s, struct arena *a, struct str line)
{
    struct shell_command command;
    struct error err;
    const char *viewed = NULL;

    if (!shell_parse(&s->config, a, line, s->terminal, &command, &err)) {
        ui_complain("%s", err.text);
        return;
    }
    if (command.command->viewer && command.config.output.n == 0 &&
        command.pipe.n == 0) {
        viewed = viewer_file(s->arena, command.command->extension, &err);
        if (!viewed) {
            ui_complain("%s", err.text);
            return;
        }
        *vec_push(s->arena, &s->viewed) = viewed;
    }
    job_run(s->profile, &command, s->tools, viewed);
}

/* False when the line ends the shell. */
static bool obey(struct shell *s, struct arena *a, struct str line)
{
    struct error err;
    struct str rest = line, word;
    bool assignment = false;

    if (!shell_assign(&s->config, s->arena, s->profile, line, &assignment,
                      &err))
        ui_complain("%s", err.text);
    if (assignment || !shell_next_word(&rest, &word))
        return true;
    if (str_eq(word, STR("o")) || str_eq(word, STR("options")))
        show_options(s);
    else if (str_eq(word, STR("help")))
        show_help(s, rest);
    else if (str_eq(word, STR("q")) || str_eq(word, STR("quit")) ||
             str_eq(word, STR("exit")))
        return false;
    else
        make_report(s, a, line);
    return true;
}

static bool obey_all(struct shell *s, struct str line)
{
    struct arena *a = arena_new();
    struct str lines[SHELL_LINES];
    size_t n = shell_expand(a, s->profile, line, lines);
    bool go_on = true;

    for (size_t i = 0; go_on && i < n; i++)
        go_on = obey(s, a, lines[i]);
    arena_free(a);
    return go_on;
}

void shell_run(const struct profile *p, const struct report_config *config,
               struct str tools)
{
    struct shell s = {.profile = p,
                      .config = *config,
                      .tools = tools,
                      .arena = arena_new(),
                      .terminal = isatty(STDIN_FILENO)};
    struct completer completer = {.profile = p, .arena = s.arena};
    struct str line;
    enum line_result result;

    s.config.compact_labels = true;
    greet(&s);
    if (s.terminal)
        interrupt_catch();
    struct line_reader *reader =
        line_reader_new("(pprof) ", complete_line, &completer);
    while ((result = line_read(reader, &line)) != LINE_END)
        if (result == LINE_READ && !obey_all(&s, line))
            break;
    line_reader_free(reader);
    for (size_t i = 0; i < s.viewed.n; i++)
        unlink(s.viewed.v[i]);
    arena_free(s.arena);
}
