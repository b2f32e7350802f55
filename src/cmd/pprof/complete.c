/*
 * Commands and options are completed by their beginning, functions by any
 * part of their name.  Names go into regular expressions, so characters
 * that mean something there are escaped, and a blank, which would end the
 * word, becomes a dot.
 */
#include "cmd/pprof/complete.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/path.h"
#include "cmd/pprof/command.h"
#include "cmd/pprof/shell_line.h"
#include "report/config.h"

static int by_bytes(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static size_t sort_unique(struct str *v, size_t n)
{
    size_t kept = 0;

    qsort(v, n, sizeof(*v), by_bytes);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || !str_eq(v[i], v[kept - 1]))
            v[kept++] = v[i];
    return kept;
}

static void collect(struct completer *c)
{
    const struct profile *p = c->profile;

    if (c->collected)
        return;
    c->collected = true;
    for (size_t i = 0; i < p->functions.n; i++)
        if (p->functions.v[i].name)
            *vec_push(c->arena, &c->names) =
                profile_str(p, p->functions.v[i].name);
    for (size_t i = 0; p->n_samples && i < p->label_start[p->n_samples]; i++)
        *vec_push(c->arena, &c->keys) = profile_str(p, p->labels[i].key);
    c->names.n = sort_unique(c->names.v, c->names.n);
    c->keys.n = sort_unique(c->keys.v, c->keys.n);
}

/* Adds word + end if it starts with what was typed, in any case. */
static void offer(struct line_completions *out, struct arena *a,
                  struct str typed, struct str word, const char *end)
{
    if (!str_eq_nocase(str_first(word, typed.n), typed))
        return;
    *vec_push(a, &out->words) =
        str_from(arena_printf(a, "%" STR_FMT "%s", STR_ARG(word), end));
}

static void offer_options(struct line_completions *out, struct arena *a,
                          struct str typed, bool values)
{
    for (size_t i = 0; i < config_n_fields; i++) {
        const struct config_field *f = &config_fields[i];

        if (!f->choices || values)
            offer(out, a, typed, str_from(f->name), values ? "=" : " ");
        for (size_t j = 0; f->choices && !values && f->choices[j]; j++)
            offer(out, a, typed, str_from(f->choices[j]), " ");
    }
}

static void offer_commands(struct line_completions *out, struct arena *a,
                           struct str typed)
{
    for (size_t i = 0; i < n_commands; i++)
        offer(out, a, typed, str_from(commands[i].name), " ");
}

static void offer_first(const struct completer *c, struct line_completions *out,
                        struct arena *a, struct str typed)
{
    static const char *const own[] = {"help", "options", "quit", "exit"};

    offer_commands(out, a, typed);
    for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
        offer(out, a, typed, str_from(own[i]), i ? "" : " ");
    offer_options(out, a, typed, true);
    for (size_t i = 0; typed.n && i < c->profile->types.n; i++)
        offer(out, a, typed,
              profile_str(c->profile, c->profile->types.v[i].type), "");
}

/* Plain text from a piece of a regular expression that we wrote. */
static struct str unescape(struct arena *a, struct str s)
{
    char *text = arena_alloc(a, s.n + 1);
    size_t n = 0;

    for (size_t i = 0; i < s.n; i++)
        if (s.s[i] != '\\' || i + 1 == s.n)
            text[n++] = s.s[i];
    return str_of(text, n);
}

static struct str escape(struct arena *a, struct str prefix, struct str name)
{
    char *text = arena_alloc(a, prefix.n + 2 * name.n + 1);
    size_t n = prefix.n;

    memcpy(text, prefix.s, prefix.n);
    for (size_t i = 0; i < name.n; i++) {
        if (strchr("\\+*?()|[]{}^$", name.s[i]))
            text[n++] = '\\';
        text[n++] = name.s[i] == ' ' ? '.' : name.s[i];
    }
    return str_of(text, n);
}

static void offer_functions(struct completer *c, struct line_completions *out,
                            struct arena *a, struct str typed)
{
    struct str prefix = str_first(typed, str_has_prefix(typed, STR("-")));
    struct str part = unescape(a, str_skip(typed, prefix.n));

    collect(c);
    if (prefix.n && str_has_prefix(STR("cum"), part))
        *vec_push(a, &out->words) = STR("-cum ");
    for (size_t i = 0; i < c->names.n; i++)
        if (str_contains(c->names.v[i], part))
            *vec_push(a, &out->words) = escape(a, prefix, c->names.v[i]);
}

static void offer_files(struct line_completions *out, struct arena *a,
                        struct str typed, const char *prefix)
{
    ptrdiff_t slash = str_rfind_char(typed, '/');
    struct str dir = str_first(typed, (size_t)(slash + 1));
    struct str base = str_skip(typed, dir.n);
    DIR *d = opendir(dir.n ? arena_cstr(a, dir) : ".");
    struct dirent *entry;
    struct stat st;

    while (d && (entry = readdir(d))) {
        struct str name = str_from(entry->d_name);
        char *path =
            arena_printf(a, "%" STR_FMT "%s", STR_ARG(dir), entry->d_name);

        if (!str_has_prefix(name, base) || (name.s[0] == '.' && base.n == 0))
            continue;
        bool is_dir = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
        *vec_push(a, &out->words) = str_from(
            arena_printf(a, "%s%s%s", prefix, path, is_dir ? "/" : " "));
    }
    if (d)
        closedir(d);
    out->words.n = sort_unique(out->words.v, out->words.n);
}

static void offer_units(const struct completer *c, struct line_completions *out,
                        struct arena *a, struct str typed)
{
    static const char *const units[] = {
        "minimum",   "auto",      "nanoseconds", "microseconds", "milliseconds",
        "seconds",   "minutes",   "hours",       "bytes",        "kilobytes",
        "megabytes", "gigabytes", "terabytes"};

    (void)c;
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
        offer(out, a, typed, str_from(units[i]), "");
}

/* After "name=". */
static void offer_values(struct completer *c, struct line_completions *out,
                         struct arena *a, struct str name, struct str typed)
{
    const struct profile *p = c->profile;
    const struct config_field *f = config_find(name);

    if (!f)
        return;
    for (size_t i = 0; f->choices && f->choices[i]; i++)
        offer(out, a, typed, str_from(f->choices[i]), "");
    if (f->kind == CONFIG_BOOL) {
        offer(out, a, typed, STR("true"), "");
        offer(out, a, typed, STR("false"), "");
    } else if (str_eq(name, STR("sample_index"))) {
        for (size_t i = 0; i < p->types.n; i++)
            offer(out, a, typed, profile_str(p, p->types.v[i].type), "");
    } else if (str_eq(name, STR("unit"))) {
        offer_units(c, out, a, typed);
    } else if (str_has_prefix(name, STR("tag"))) {
        bool filter = str_has_suffix(name, STR("focus")) ||
                      str_has_suffix(name, STR("ignore"));
        collect(c);
        for (size_t i = 0; i < c->keys.n; i++)
            offer(out, a, typed, c->keys.v[i], filter ? "=" : "");
    } else if (str_eq(name, STR("output"))) {
        offer_files(out, a, typed, "");
    } else if (f->kind == CONFIG_TEXT && !f->choices &&
               !str_has_suffix(name, STR("_path"))) {
        offer_functions(c, out, a, typed);
    }
}

/* The arguments of a command. */
static void offer_arguments(struct completer *c, struct line_completions *out,
                            struct arena *a, struct str command,
                            struct str previous, struct str typed)
{
    if (str_eq(command, STR("help"))) {
        offer_commands(out, a, typed);
        offer_options(out, a, typed, false);
    } else if (str_has_prefix(typed, STR(">"))) {
        offer_files(out, a, str_skip(typed, 1), ">");
    } else if (str_eq(previous, STR(">"))) {
        offer_files(out, a, typed, "");
    } else if (str_eq(command, STR("tags"))) {
        collect(c);
        for (size_t i = 0; i < c->keys.n; i++)
            offer(out, a, typed, c->keys.v[i], ":");
    } else {
        offer_functions(c, out, a, typed);
    }
}

void complete_line(void *arg, struct arena *a, struct str before,
                   struct line_completions *out)
{
    struct completer *c = arg;
    struct str rest = before, word, first = STR(""), previous = STR("");
    struct str typed = STR("");

    /* The word at the cursor is the last one, or none after a blank. */
    while (shell_next_word(&rest, &word)) {
        if (word.s + word.n == before.s + before.n) {
            typed = word;
            break;
        }
        if (first.n == 0)
            first = word;
        previous = word;
    }
    out->start = before.n - typed.n;
    ptrdiff_t equals = str_find_char(typed, '=');
    if (first.n == 0 && equals >= 0) {
        out->start += (size_t)equals + 1;
        offer_values(c, out, a, str_first(typed, (size_t)equals),
                     str_skip(typed, (size_t)equals + 1));
    } else if (first.n == 0) {
        offer_first(c, out, a, typed);
    } else {
        offer_arguments(c, out, a, first, previous, typed);
    }
}
