#include "cmd/flags.h"

#include <limits.h>

#include "base/goformat.h"
#include "base/goparse.h"

static const struct flag *find(const struct flag *flags, size_t n,
                               struct str name)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(flags[i].name, name))
            return &flags[i];
    return NULL;
}

static enum goparse set(const struct flag *f, struct arena *a, struct str value)
{
    enum goparse result = GOPARSE_OK;
    int64_t number = 0;

    switch (f->kind) {
    case FLAG_BOOL:
        result = goparse_bool(value, f->target);
        break;
    case FLAG_INT:
        result = goparse_int(value, 0, 64, &number);
        if (result == GOPARSE_OK)
            *(int *)f->target = number > INT_MAX   ? INT_MAX
                                : number < INT_MIN ? INT_MIN
                                                   : (int)number;
        break;
    case FLAG_FLOAT:
        result = goparse_float(value, f->target);
        break;
    case FLAG_TEXT:
        *(struct str *)f->target = value;
        break;
    case FLAG_LIST:
        *vec_push(a, &((struct flag_list *)f->target)->texts) = value;
        break;
    }
    return result;
}

static enum flags_result refuse_value(const struct flag *f, struct str value,
                                      enum goparse why, struct error *err)
{
    struct buf b = BUF_INIT(BUF_OF_TOOL);

    buf_add(&b, f->kind == FLAG_BOOL ? STR("invalid boolean value ")
                                     : STR("invalid value "));
    goformat_quote(&b, value);
    buf_addf(&b, " for %s-%" STR_FMT ": %s",
             f->kind == FLAG_BOOL ? "" : "flag ", STR_ARG(f->name),
             why == GOPARSE_RANGE ? goparse_reason(why) : "parse error");
    error_set(err, "%s", buf_cstr(&b));
    buf_release(&b);
    return FLAGS_BAD;
}

/* Splits "--name=value"; false if the word is not of this form. */
static bool split(struct str word, struct str *name, struct str *value,
                  bool *has_value)
{
    *name = str_skip(word, str_has_prefix(word, STR("--")) ? 2 : 1);
    if (name->n == 0 || name->s[0] == '-' || name->s[0] == '=')
        return false;
    ptrdiff_t equals = str_find_char(*name, '=');
    *has_value = equals >= 0;
    if (*has_value) {
        *value = str_skip(*name, (size_t)equals + 1);
        *name = str_first(*name, (size_t)equals);
    }
    return true;
}

enum flags_result flags_parse(const struct flag *flags, size_t n_flags,
                              struct arena *a, char *const *words, int n,
                              int *rest, struct error *err)
{
    for (*rest = 0; *rest < n; ++*rest) {
        struct str word = str_from(words[*rest]), name, value = STR("true");
        bool has_value = false;

        if (word.n < 2 || word.s[0] != '-')
            return FLAGS_OK;
        if (str_eq(word, STR("--"))) {
            ++*rest;
            return FLAGS_OK;
        }
        if (!split(word, &name, &value, &has_value)) {
            error_set(err, "bad flag syntax: %s", words[*rest]);
            return FLAGS_BAD;
        }
        const struct flag *f = find(flags, n_flags, name);
        if (!f && (str_eq(name, STR("help")) || str_eq(name, STR("h"))))
            return FLAGS_HELP;
        if (!f) {
            error_set(err, "flag provided but not defined: -%" STR_FMT,
                      STR_ARG(name));
            return FLAGS_BAD;
        }
        if (!has_value && f->kind != FLAG_BOOL) {
            if (*rest + 1 >= n) {
                error_set(err, "flag needs an argument: -%" STR_FMT,
                          STR_ARG(name));
                return FLAGS_BAD;
            }
            value = str_from(words[++*rest]);
        }
        enum goparse result = set(f, a, value);
        if (result != GOPARSE_OK)
            return refuse_value(f, value, result, err);
    }
    return FLAGS_OK;
}
