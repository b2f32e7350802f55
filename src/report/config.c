/*
 * One table describes all options.  The command line, the shell, the page's
 * query and saved configurations are read and written through it, so that an
 * option has the same name, type and default everywhere.
 */
#include "report/config.h"

#include <limits.h>
#include <stddef.h>

#include "base/goformat.h"
#include "base/goparse.h"
#include "base/number.h"

static const char *const sort_choices[] = {"cum", "flat", NULL};
static const char *const granularity_choices[] = {
    "functions", "filefunctions", "files", "lines", "addresses", NULL};

#define FIELD(name, kind, param, saved)                                        \
    {                                                                          \
#name, param, kind, offsetof(struct report_config, name), saved, NULL  \
    }
#define GROUP(name, param, choices)                                            \
    {                                                                          \
#name, param, CONFIG_TEXT, offsetof(struct report_config, name), true, \
            choices                                                            \
    }

const struct config_field config_fields[] = {
    FIELD(output, CONFIG_TEXT, NULL, false),
    FIELD(call_tree, CONFIG_BOOL, "calltree", true),
    FIELD(relative_percentages, CONFIG_BOOL, "rel", true),
    FIELD(unit, CONFIG_TEXT, "unit", true),
    FIELD(compact_labels, CONFIG_BOOL, "compact", true),
    FIELD(source_path, CONFIG_TEXT, NULL, false),
    FIELD(trim_path, CONFIG_TEXT, NULL, false),
    FIELD(intel_syntax, CONFIG_BOOL, "intel", true),
    FIELD(mean, CONFIG_BOOL, "mean", true),
    FIELD(sample_index, CONFIG_TEXT, "si", false),
    FIELD(divide_by, CONFIG_FLOAT, NULL, false),
    FIELD(normalize, CONFIG_BOOL, "norm", true),
    GROUP(sort, "sort", sort_choices),
    FIELD(tagroot, CONFIG_TEXT, NULL, true),
    FIELD(tagleaf, CONFIG_TEXT, NULL, true),
    FIELD(drop_negative, CONFIG_BOOL, "dropneg", true),
    FIELD(nodecount, CONFIG_INT, "n", true),
    FIELD(nodefraction, CONFIG_FLOAT, "nf", true),
    FIELD(edgefraction, CONFIG_FLOAT, "ef", true),
    FIELD(trim, CONFIG_BOOL, "trim", true),
    FIELD(focus, CONFIG_TEXT, "f", true),
    FIELD(ignore, CONFIG_TEXT, "i", true),
    FIELD(prune_from, CONFIG_TEXT, "prunefrom", true),
    FIELD(hide, CONFIG_TEXT, "h", true),
    FIELD(show, CONFIG_TEXT, "s", true),
    FIELD(show_from, CONFIG_TEXT, "sf", true),
    FIELD(tagfocus, CONFIG_TEXT, "tf", true),
    FIELD(tagignore, CONFIG_TEXT, "ti", true),
    FIELD(tagshow, CONFIG_TEXT, "ts", true),
    FIELD(taghide, CONFIG_TEXT, "th", true),
    FIELD(noinlines, CONFIG_BOOL, "noinlines", true),
    FIELD(showcolumns, CONFIG_BOOL, "showcolumns", true),
    GROUP(granularity, "g", granularity_choices),
};

const size_t config_n_fields = sizeof(config_fields) / sizeof(*config_fields);

void config_init(struct report_config *c)
{
    *c = (struct report_config){
        .unit = STR("minimum"),
        .divide_by = 1,
        .sort = STR("flat"),
        .nodecount = -1,
        .nodefraction = 0.005,
        .edgefraction = 0.001,
        .trim = true,
    };
}

static bool is_choice(const struct config_field *f, struct str name)
{
    for (size_t i = 0; f->choices && f->choices[i]; i++)
        if (str_eq(name, str_from(f->choices[i])))
            return true;
    return false;
}

const struct config_field *config_find(struct str name)
{
    for (size_t i = 0; i < config_n_fields; i++) {
        const struct config_field *f = &config_fields[i];
        if (str_eq(name, str_from(f->name)) || is_choice(f, name))
            return f;
    }
    return NULL;
}

void *config_at(struct report_config *c, const struct config_field *f)
{
    return (char *)c + f->offset;
}

/* error_set with the user's text quoted between two pieces. */
static bool refuse(struct error *err, const char *before, struct str text,
                   const char *after)
{
    struct buf b = BUF_INIT(sizeof(err->text));

    goformat_quote(&b, text);
    error_set(err, "%s%s%s", before, buf_cstr(&b), after);
    buf_release(&b);
    return false;
}

static bool is_word(struct str s, const char *const *words)
{
    for (; *words; words++)
        if (str_eq_nocase(s, str_from(*words)))
            return true;
    return false;
}

static bool set_bool(bool *to, struct str value, struct error *err)
{
    static const char *const yes[] = {"true", "t", "yes", "y", "1", "", NULL};
    static const char *const no[] = {"false", "f", "no", "n", "0", NULL};

    if (!is_word(value, yes) && !is_word(value, no))
        return refuse(err, "illegal value ", value, " for bool variable");
    *to = is_word(value, yes);
    return true;
}

static bool set_int(int *to, struct str value, struct error *err)
{
    int64_t number = 0;
    enum goparse result = goparse_int(value, 10, 64, &number);

    if (result == GOPARSE_SYNTAX)
        return refuse(err, "strconv.Atoi: parsing ", value, ": invalid syntax");
    if (result == GOPARSE_RANGE)
        return refuse(err, "strconv.Atoi: parsing ", value,
                      ": value out of range");
    *to = number > INT_MAX ? INT_MAX : number < INT_MIN ? INT_MIN : (int)number;
    return true;
}

static bool set_float(double *to, struct str value, struct error *err)
{
    enum goparse result = goparse_float(value, to);

    if (result == GOPARSE_SYNTAX)
        return refuse(err, "strconv.ParseFloat: parsing ", value,
                      ": invalid syntax");
    if (result == GOPARSE_RANGE)
        return refuse(err, "strconv.ParseFloat: parsing ", value,
                      ": value out of range");
    return true;
}

bool config_set(struct report_config *c, struct arena *a,
                const struct config_field *f, struct str value,
                struct error *err)
{
    void *to = config_at(c, f);

    switch (f->kind) {
    case CONFIG_BOOL:
        return set_bool(to, value, err);
    case CONFIG_INT:
        return set_int(to, value, err);
    case CONFIG_FLOAT:
        return set_float(to, value, err);
    case CONFIG_TEXT:
        break;
    }
    if (f->choices && !is_choice(f, value)) {
        refuse(err, " value ", value, "");
        struct error rest = *err;
        return error_set(err, "invalid \"%s\"%s", f->name, rest.text);
    }
    *(struct str *)to = arena_str(a, value);
    return true;
}

bool config_set_name(struct report_config *c, struct arena *a, struct str name,
                     struct str value, struct error *err)
{
    const struct config_field *f = config_find(name);
    bool chosen = false;

    if (f && str_eq(name, str_from(f->name)))
        return config_set(c, a, f, value, err);
    if (f && goparse_bool(value, &chosen) == GOPARSE_OK && chosen)
        return config_set(c, a, f, name, err);
    return refuse(err, "unknown config field ", name, "");
}

bool config_set_param(struct report_config *c, struct arena *a,
                      struct str param, struct str value, struct error *err)
{
    for (size_t i = 0; i < config_n_fields; i++) {
        const struct config_field *f = &config_fields[i];
        if (value.n == 0 || !f->param || !str_eq(param, str_from(f->param)))
            continue;
        return config_set(c, a, f, value, err) ||
               error_wrap(err, "error setting config field %s", f->name);
    }
    return true;
}

void config_get(const struct report_config *c, const struct config_field *f,
                struct buf *out)
{
    const void *from = (const char *)c + f->offset;

    switch (f->kind) {
    case CONFIG_BOOL:
        buf_add(out, *(const bool *)from ? STR("true") : STR("false"));
        break;
    case CONFIG_INT:
        buf_add_i64(out, *(const int *)from);
        break;
    case CONFIG_FLOAT:
        goformat_float(out, *(const double *)from);
        break;
    case CONFIG_TEXT:
        buf_add(out, *(const struct str *)from);
        break;
    }
}
