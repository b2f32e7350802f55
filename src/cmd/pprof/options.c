/*
 * From argv to struct options, in the order in which the original looks at
 * things: when several are wrong, the first in this order is reported.
 */
#include "cmd/pprof/options.h"

#include <stdlib.h>

#include "base/goformat.h"
#include "base/goparse.h"
#include "cmd/pprof/binaries.h"

/* Old names for values, which choose a sample_index. */
struct selection {
    const char *flag, *sample_index;
    bool mean;
};

static const struct selection selections[] = {
    {"total_delay", "delay", false},
    {"mean_delay", "delay", true},
    {"contentions", "contentions", false},
    {"inuse_space", "inuse_space", false},
    {"inuse_objects", "inuse_objects", false},
    {"alloc_space", "alloc_space", false},
    {"alloc_objects", "alloc_objects", false},
};

#define N_SELECTIONS (sizeof(selections) / sizeof(*selections))

/* What flags set before options_parse draws its conclusions. */
struct raw_flags {
    struct arena *arena;
    VEC(struct flag) flags;
    bool *commands;        /* is it set, by index in commands */
    struct str *arguments; /* of those that have one */
    bool **choices;        /* by field of the config, then by choice */
    bool selected[N_SELECTIONS];
    struct str base, diff_base, fail_above, fail_above_share;
    bool help_all, version;
};

static void add(struct raw_flags *r, const char *name, enum flag_kind kind,
                void *target)
{
    *vec_push(r->arena, &r->flags) =
        (struct flag){str_from(name), kind, target};
}

static void add_commands(struct raw_flags *r)
{
    r->commands = arena_new_array(r->arena, bool, n_commands);
    r->arguments = arena_new_array(r->arena, struct str, n_commands);
    for (size_t i = 0; i < n_commands; i++) {
        if (commands[i].has_argument)
            add(r, commands[i].name, FLAG_TEXT, &r->arguments[i]);
        else
            add(r, commands[i].name, FLAG_BOOL, &r->commands[i]);
    }
}

static size_t count_choices(const struct config_field *f)
{
    size_t n = 0;

    while (f->choices && f->choices[n])
        n++;
    return n;
}

static void add_config(struct raw_flags *r, struct report_config *c)
{
    static const enum flag_kind kinds[] = {
        [CONFIG_BOOL] = FLAG_BOOL,
        [CONFIG_INT] = FLAG_INT,
        [CONFIG_FLOAT] = FLAG_FLOAT,
        [CONFIG_TEXT] = FLAG_TEXT,
    };

    r->choices = arena_new_array(r->arena, bool *, config_n_fields);
    for (size_t i = 0; i < config_n_fields; i++) {
        const struct config_field *f = &config_fields[i];
        size_t n = count_choices(f);

        if (n == 0)
            add(r, f->name, kinds[f->kind], config_at(c, f));
        r->choices[i] = arena_new_array(r->arena, bool, n);
        for (size_t j = 0; j < n; j++)
            add(r, f->choices[j], FLAG_BOOL, &r->choices[i][j]);
    }
}

static void add_rest(struct raw_flags *r, struct options *o)
{
    for (size_t i = 0; i < N_SELECTIONS; i++)
        add(r, selections[i].flag, FLAG_BOOL, &r->selected[i]);
    add(r, "base", FLAG_TEXT, &r->base);
    add(r, "diff_base", FLAG_TEXT, &r->diff_base);
    add(r, "fail_above", FLAG_TEXT, &r->fail_above);
    add(r, "fail_above_share", FLAG_TEXT, &r->fail_above_share);
    add(r, "help_all", FLAG_BOOL, &r->help_all);
    add(r, "version", FLAG_BOOL, &r->version);
    add(r, "symbolize", FLAG_TEXT, &o->symbolize);
    add(r, "buildid", FLAG_TEXT, &o->buildid);
    add(r, "add_comment", FLAG_TEXT, &o->add_comment);
    add(r, "tools", FLAG_TEXT, &o->tools);
    add(r, "timeout", FLAG_INT, &o->timeout);
    add(r, "seconds", FLAG_INT, &o->seconds);
    add(r, "all_frames", FLAG_BOOL, &o->all_frames);
    add(r, "no_save", FLAG_BOOL, &o->no_save);
    add(r, "tls_cert", FLAG_TEXT, &o->tls_cert);
    add(r, "tls_key", FLAG_TEXT, &o->tls_key);
    add(r, "tls_server_name", FLAG_TEXT, &o->tls_server_name);
    add(r, "tls_ca", FLAG_TEXT, &o->tls_ca);
    add(r, "token_file", FLAG_TEXT, &o->token_file);
    add(r, "header", FLAG_LIST, &o->headers);
    add(r, "http", FLAG_TEXT, &o->http);
    add(r, "no_browser", FLAG_BOOL, &o->no_browser);
    add(r, "http_cert", FLAG_TEXT, &o->http_cert);
    add(r, "http_key", FLAG_TEXT, &o->http_key);
    add(r, "http_client_ca", FLAG_TEXT, &o->http_client_ca);
}

/* With two words or more the first may be the program that was profiled. */
static void take_sources(struct options *o, char *const *words, int n)
{
    if (n > 1 && binaries_can_open(words[0])) {
        o->executable = str_from(words[0]);
        words++;
        n--;
    }
    o->sources = words;
    o->n_sources = (size_t)n;
}

/* Choices of a group are flags of their own: at most one may be set. */
static bool take_choices(const struct raw_flags *r, struct report_config *c,
                         struct error *err)
{
    bool ok = true;

    for (size_t i = 0; i < config_n_fields; i++) {
        const struct config_field *f = &config_fields[i];
        struct buf names = BUF_INIT(BUF_OF_TOOL);
        size_t set = 0;

        for (size_t j = 0; j < count_choices(f); j++) {
            if (!r->choices[i][j])
                continue;
            buf_addf(&names, "%s%s", set++ ? " " : "", f->choices[j]);
            *(struct str *)config_at(c, f) = str_from(f->choices[j]);
        }
        if (set > 1)
            ok = error_set(err, "conflicting options set: [%s]",
                           buf_cstr(&names));
        buf_release(&names);
    }
    return ok;
}

static bool take_command(const struct raw_flags *r, struct options *o,
                         struct error *err)
{
    for (size_t i = 0; i < n_commands; i++) {
        if (!r->commands[i] && r->arguments[i].n == 0)
            continue;
        if (o->command)
            return error_set(err, "must set at most one output format");
        o->command = &commands[i];
        o->argument = r->arguments[i];
    }
    if (o->command && o->http.n)
        return error_set(err, "-http is not compatible with an output format "
                              "on the command line");
    if (o->no_browser && o->http.n == 0)
        return error_set(err, "-no_browser only makes sense with -http");
    if (!o->http_cert.n != !o->http_key.n)
        return error_set(err, "-http_cert and -http_key go together");
    if (o->http_client_ca.n && !o->http_cert.n)
        return error_set(err, "-http_client_ca needs -http_cert and -http_key");
    return true;
}

static void take_selections(const struct raw_flags *r, struct report_config *c,
                            struct buf *warnings)
{
    for (size_t i = 0; i < N_SELECTIONS; i++) {
        const struct selection *s = &selections[i];

        if (!r->selected[i])
            continue;
        if (c->sample_index.n)
            buf_addf(warnings, "Multiple value selections, ignoring -%s\n",
                     s->flag);
        else
            c->sample_index = str_from(s->sample_index);
        c->mean = c->mean || s->mean;
    }
}

static bool take_base(const struct raw_flags *r, struct options *o,
                      struct error *err)
{
    if (r->base.n && r->diff_base.n)
        return error_set(err,
                         "-base and -diff_base flags cannot both be specified");
    o->base = r->diff_base.n > 0 ? r->diff_base : r->base;
    /* An explanation tells before from after, whichever flag was used. */
    o->base_is_diff = r->diff_base.n > 0 ||
                      (o->command && o->command->format == REPORT_EXPLAIN);
    o->mark_base = o->base_is_diff;
    if (o->config.normalize && o->base.n == 0)
        return error_set(err, "must have base profile to normalize by");
    return true;
}

/* "5%", "5" and "0.5%" are percentages; without one there is no limit. */
static bool take_limit(struct options *o, const char *flag, struct str given,
                       double *limit, struct error *err)
{
    struct str text = given;
    double percent = 0;

    *limit = -1;
    if (text.n == 0)
        return true;
    if (str_has_suffix(text, STR("%")))
        text = str_first(text, text.n - 1);
    if (goparse_float(text, &percent) != GOPARSE_OK || !(percent >= 0))
        return error_set(err,
                         "-%s needs a percentage, such as 5%%, not "
                         "\"%" STR_FMT "\"",
                         flag, STR_ARG(given));
    if (o->base.n == 0)
        return error_set(err, "-%s needs -base or -diff_base", flag);
    if (o->http.n)
        return error_set(err, "-%s does not go with -http", flag);
    *limit = percent / 100;
    o->mark_base = true;
    return true;
}

static bool take_limits(const struct raw_flags *r, struct options *o,
                        struct error *err)
{
    return take_limit(o, "fail_above", r->fail_above, &o->fail_above, err) &&
           take_limit(o, "fail_above_share", r->fail_above_share,
                      &o->fail_above_share, err);
}

enum options_result options_parse(struct options *o, struct arena *a, int argc,
                                  char *const *argv, struct buf *warnings,
                                  struct error *err)
{
    struct raw_flags r = {.arena = a};
    int rest = 0;

    *o = (struct options){.timeout = -1, .seconds = -1};
    config_init(&o->config);
    o->tools = str_from(getenv("PPROF_TOOLS"));
    add_commands(&r);
    add_config(&r, &o->config);
    add_rest(&r, o);
    switch (
        flags_parse(r.flags.v, r.flags.n, a, argv + 1, argc - 1, &rest, err)) {
    case FLAGS_HELP:
        /* What -h and --help print is compared byte for byte. */
        return strcmp(argv[1 + rest], "-help") == 0 ? OPTIONS_HELP_HINT
                                                    : OPTIONS_HELP;
    case FLAGS_BAD:
        return OPTIONS_BAD_FLAG;
    case FLAGS_OK:
        break;
    }
    if (r.help_all)
        return OPTIONS_HELP_ALL;
    if (r.version)
        return OPTIONS_VERSION;
    if (rest == argc - 1) {
        error_set(err, "no profile source specified");
        return OPTIONS_NOTHING;
    }
    take_sources(o, argv + 1 + rest, argc - 1 - rest);
    if (!take_choices(&r, &o->config, err) || !take_command(&r, o, err))
        return OPTIONS_BAD;
    take_selections(&r, &o->config, warnings);
    if (!take_base(&r, o, err) || !take_limits(&r, o, err))
        return OPTIONS_BAD;
    return OPTIONS_OK;
}
