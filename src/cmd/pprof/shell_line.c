/*
 * The grammar is google/pprof's: a number may follow a command without a blank
 * ("top10"), a word with a minus sign excludes, and several words become
 * alternatives of one regular expression.  Pipes are our own addition.
 */
#include "cmd/pprof/shell_line.h"

#include <ctype.h>

#include "base/goformat.h"
#include "base/goparse.h"
#include "report/report.h"

bool shell_next_word(struct str *rest, struct str *word)
{
    size_t n = 0;

    while (rest->n && isspace((unsigned char)rest->s[0]))
        *rest = str_skip(*rest, 1);
    while (n < rest->n && !isspace((unsigned char)rest->s[n]))
        n++;
    *word = str_first(*rest, n);
    *rest = str_skip(*rest, n);
    return n > 0;
}

static struct str select_line(struct arena *a, struct str type)
{
    return str_from(arena_printf(a, "sample_index=%" STR_FMT, STR_ARG(type)));
}

size_t shell_expand(struct arena *a, const struct profile *p, struct str line,
                    struct str lines[SHELL_LINES])
{
    static const struct str clear[SHELL_LINES] = {
        STR_INIT("focus="), STR_INIT("ignore="), STR_INIT("hide="),
        STR_INIT("tagfocus="), STR_INIT("tagignore=")};

    line = str_trim(line);
    if (str_eq(line, STR(":"))) {
        memcpy(lines, clear, sizeof(clear));
        return SHELL_LINES;
    }
    /* The last type first: "mean_x" may be a type and short for another. */
    for (size_t i = p->types.n; i-- > 0;) {
        struct str type = profile_str(p, p->types.v[i].type);
        bool total = str_has_prefix(line, STR("total_"));
        bool mean = str_has_prefix(line, STR("mean_"));
        size_t skip = total ? strlen("total_") : strlen("mean_");

        if (str_eq(line, type)) {
            lines[0] = select_line(a, type);
            return 1;
        }
        if ((total || mean) && str_eq(str_skip(line, skip), type)) {
            lines[0] = mean ? STR("mean=1") : STR("mean=0");
            lines[1] = select_line(a, type);
            return 2;
        }
    }
    lines[0] = line;
    return 1;
}

/* "name=value //: comment" in its parts. */
static bool split_assignment(struct str line, struct str *name,
                             struct str *value)
{
    const struct str mark = STR("//:");
    ptrdiff_t equals = str_find_char(line, '='), comment;

    *value = STR("");
    if (equals < 0) {
        *name = str_trim(line);
        return false;
    }
    *name = str_trim(str_first(line, (size_t)equals));
    struct str rest = str_skip(line, (size_t)equals + 1);
    *value = rest;
    for (size_t at = 0; (comment = str_find(str_skip(rest, at), mark)) >= 0;) {
        at += (size_t)comment;
        *value = str_first(rest, at++); /* the last one counts */
    }
    *value = str_trim(*value);
    return true;
}

bool shell_assign(struct report_config *config, struct arena *a,
                  const struct profile *p, struct str line, bool *is,
                  struct error *err)
{
    struct str name, value;
    bool has_value = split_assignment(line, &name, &value);
    const struct config_field *f = config_find(name);

    *is = f != NULL;
    if (!f)
        return true;
    bool is_choice = !str_eq(name, str_from(f->name));
    if (!has_value && !is_choice && f->kind != CONFIG_BOOL)
        return error_set(err, "please specify a value, e.g. %" STR_FMT "=<val>",
                         STR_ARG(name));
    if (str_eq(name, STR("sample_index"))) {
        size_t index;
        if (!report_sample_index(p, value, &index, err))
            return false;
        value = profile_str(p, p->types.v[index].type);
    }
    return config_set_name(config, a, name, value, err);
}

/* "top10" is "top 10"; the digits are the first argument. */
static const struct command *find_command(struct str *name, struct str *digits)
{
    const struct command *c = command_find(*name);
    size_t n = name->n;

    *digits = STR("");
    if (c)
        return c;
    while (n > 0 && isdigit((unsigned char)name->s[n - 1]))
        n--;
    if (n == 0)
        return NULL;
    *digits = str_skip(*name, n);
    *name = str_first(*name, n);
    return command_find(*name);
}

static bool unknown_command(struct str name, struct str argument,
                            struct error *err)
{
    struct buf quoted = BUF_INIT(BUF_OF_TOOL);

    if (config_help(name).n)
        return error_set(err, "did you mean: %" STR_FMT "=%" STR_FMT,
                         STR_ARG(name), STR_ARG(argument));
    goformat_quote(&quoted, name);
    error_set(err, "unrecognized command: %s", buf_cstr(&quoted));
    buf_release(&quoted);
    return false;
}

/* Words become alternatives of one regular expression. */
static struct str alternative(struct arena *a, struct str one, struct str two)
{
    if (one.n == 0 || two.n == 0)
        return one.n ? one : two;
    return str_from(
        arena_printf(a, "%" STR_FMT "|%" STR_FMT, STR_ARG(one), STR_ARG(two)));
}

/* The arguments of a command but for those it takes itself. */
struct arguments {
    struct str first; /* stands before `rest` unless it is "" */
    struct str rest;
};

static bool next_argument(struct arguments *args, struct str *word)
{
    if (args->first.n) {
        *word = args->first;
        args->first = STR("");
        return true;
    }
    return shell_next_word(&args->rest, word);
}

static bool read_arguments(struct arguments *args, struct arena *a,
                           struct shell_command *out, struct error *err)
{
    struct report_config *c = &out->config;
    bool tags = out->command->format == REPORT_TAGS;
    struct str word, focus = STR(""), ignore = STR("");
    int64_t number;

    while (next_argument(args, &word)) {
        if (goparse_int(word, 10, 32, &number) == GOPARSE_OK) {
            c->nodecount = (int)number;
        } else if (word.s[0] == '>') {
            c->output = str_skip(word, 1);
            if (c->output.n == 0 && !next_argument(args, &c->output))
                return error_set(err, "unexpected end of line after >");
        } else if (str_eq(word, STR("-cum")) || str_eq(word, STR("--cum"))) {
            c->sort = STR("cum");
        } else if (word.s[0] == '-') {
            ignore = alternative(a, ignore, str_skip(word, 1));
        } else {
            focus = alternative(a, focus, word);
        }
    }
    if (focus.n)
        *(tags ? &c->tagfocus : &c->focus) = focus;
    if (ignore.n)
        *(tags ? &c->tagignore : &c->ignore) = ignore;
    return true;
}

/* Cuts "| program" off the line: the first word that starts with a pipe. */
static struct str cut_pipe(struct str *line)
{
    struct str rest = *line, word;

    while (shell_next_word(&rest, &word)) {
        if (word.s[0] != '|')
            continue;
        size_t at = (size_t)(word.s - line->s);
        struct str program = str_trim(str_skip(*line, at + 1));
        *line = str_first(*line, at);
        return program;
    }
    return STR("");
}

bool shell_parse(const struct report_config *config, struct arena *a,
                 struct str line, bool pipes, struct shell_command *out,
                 struct error *err)
{
    struct arguments args = {0};
    struct str name, word;

    *out = (struct shell_command){.config = *config};
    if (pipes)
        out->pipe = cut_pipe(&line);
    shell_next_word(&line, &name);
    args.rest = line;
    out->command = find_command(&name, &args.first);
    if (!out->command) {
        bool has = next_argument(&args, &word);
        return unknown_command(name, has ? word : STR("<val>"), err);
    }
    if (out->command->has_argument && !next_argument(&args, &out->argument))
        return error_set(err, "command %" STR_FMT " requires an argument",
                         STR_ARG(name));
    return read_arguments(&args, a, out, err);
}
