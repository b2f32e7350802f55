/*
 * The rules are a table of actions, each a function on the set of labels.
 * Growth is limited where a value or a label is added: a chain of rules with
 * `$1$1` doubles a value every time.
 */
#include "collector/scrape/relabel.h"

#include <ctype.h>
#include <inttypes.h>

#include "base/md5.h"
#include "collector/scrape/relabel_expand.h"

bool relabel_is_label_name(struct str name)
{
    for (size_t i = 0; i < name.n; i++) {
        unsigned char c = (unsigned char)name.s[i];

        if (c != '_' && !(c < 128 && isalpha(c)) &&
            !(i > 0 && c < 128 && isdigit(c)))
            return false;
    }
    return name.n > 0;
}

/* One rule at work. */
struct work {
    const struct relabel_rule *rule;
    struct arena *arena;
    struct label_set *set;
    struct str value; /* of the source labels, joined */
    bool keep;
    struct error *err;
};

static bool put(struct work *w, struct str name, struct str value)
{
    if (value.n > RELABEL_MAX_VALUE)
        return error_set(w->err,
                         "relabelling makes the label %" STR_FMT
                         " longer than %u bytes",
                         STR_ARG(name), RELABEL_MAX_VALUE);
    label_set_put(w->arena, w->set, name, value);
    return w->set->n <= RELABEL_MAX_LABELS ||
           error_set(w->err, "relabelling makes more than %d labels",
                     RELABEL_MAX_LABELS);
}

static bool matches(const struct relabel_rule *r, struct str text)
{
    struct str whole;

    return regex_match_whole(r->regex, text, &whole, 1);
}

static bool replace(struct work *w)
{
    const struct relabel_rule *r = w->rule;
    struct str target, value;

    if (!relabel_expand(r->regex, r->target_label, w->value, w->arena,
                        &target) ||
        !relabel_is_label_name(target))
        return true;
    relabel_expand(r->regex, r->replacement, w->value, w->arena, &value);
    return put(w, target, value);
}

static bool keep(struct work *w)
{
    w->keep = matches(w->rule, w->value);
    return true;
}

static bool drop(struct work *w)
{
    w->keep = !matches(w->rule, w->value);
    return true;
}

static bool keepequal(struct work *w)
{
    w->keep = str_eq(label_set_get(w->set, w->rule->target_label), w->value);
    return true;
}

static bool dropequal(struct work *w)
{
    w->keep = !str_eq(label_set_get(w->set, w->rule->target_label), w->value);
    return true;
}

static bool hashmod(struct work *w)
{
    uint8_t sum[16];
    uint64_t number = 0;

    md5(w->value, sum);
    for (int i = 8; i < 16; i++)
        number = number << 8 | sum[i];
    return put(w, w->rule->target_label,
               str_from(arena_printf(w->arena, "%" PRIu64,
                                     number % w->rule->modulus)));
}

static bool labelmap(struct work *w)
{
    struct label_set before = label_set_copy(w->arena, w->set);

    for (size_t i = 0; i < before.n; i++) {
        struct str name;

        if (relabel_expand(w->rule->regex, w->rule->replacement,
                           before.v[i].name, w->arena, &name) &&
            relabel_is_label_name(name) && !put(w, name, before.v[i].value))
            return false;
    }
    return true;
}

static bool remove_names(struct work *w, bool which)
{
    size_t kept = 0;

    for (size_t i = 0; i < w->set->n; i++)
        if (matches(w->rule, w->set->v[i].name) != which)
            w->set->v[kept++] = w->set->v[i];
    w->set->n = kept;
    return true;
}

static bool labeldrop(struct work *w)
{
    return remove_names(w, true);
}

static bool labelkeep(struct work *w)
{
    return remove_names(w, false);
}

static bool change_case(struct work *w, int (*change)(int))
{
    char *text = arena_cstr(w->arena, w->value);

    for (size_t i = 0; i < w->value.n; i++)
        if ((unsigned char)text[i] < 128)
            text[i] = (char)change(text[i]);
    return put(w, w->rule->target_label, str_of(text, w->value.n));
}

static bool lowercase(struct work *w)
{
    return change_case(w, tolower);
}

static bool uppercase(struct work *w)
{
    return change_case(w, toupper);
}

static bool (*const actions[])(struct work *w) = {
    [RELABEL_REPLACE] = replace,     [RELABEL_KEEP] = keep,
    [RELABEL_DROP] = drop,           [RELABEL_KEEPEQUAL] = keepequal,
    [RELABEL_DROPEQUAL] = dropequal, [RELABEL_HASHMOD] = hashmod,
    [RELABEL_LABELMAP] = labelmap,   [RELABEL_LABELDROP] = labeldrop,
    [RELABEL_LABELKEEP] = labelkeep, [RELABEL_LOWERCASE] = lowercase,
    [RELABEL_UPPERCASE] = uppercase,
};

static struct str joined(const struct relabel_rule *r, struct arena *a,
                         const struct label_set *set)
{
    struct buf out = arena_buf(a);

    if (r->n_source_labels == 1)
        return label_set_get(set, r->source_labels[0]);
    for (size_t i = 0; i < r->n_source_labels; i++) {
        if (i > 0)
            buf_add(&out, r->separator);
        buf_add(&out, label_set_get(set, r->source_labels[i]));
    }
    return buf_str(&out);
}

bool relabel_apply(const struct relabel_rules *rules, struct arena *a,
                   struct label_set *set, bool *keep_out, struct error *err)
{
    struct work w = {.arena = a, .set = set, .keep = true, .err = err};

    for (size_t i = 0; i < rules->n && w.keep; i++) {
        w.rule = &rules->v[i];
        w.value = joined(w.rule, a, set);
        if (!actions[w.rule->action](&w))
            return false;
    }
    *keep_out = w.keep;
    return true;
}
