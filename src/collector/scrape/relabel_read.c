/*
 * Reading the rules: one key table, and which keys each action needs.
 */
#include "collector/scrape/relabel.h"

#include "collector/scrape/keys.h"
#include "config/document.h"

static const char *const action_words[] = {
    [RELABEL_REPLACE] = "replace",     [RELABEL_KEEP] = "keep",
    [RELABEL_DROP] = "drop",           [RELABEL_KEEPEQUAL] = "keepequal",
    [RELABEL_DROPEQUAL] = "dropequal", [RELABEL_HASHMOD] = "hashmod",
    [RELABEL_LABELMAP] = "labelmap",   [RELABEL_LABELDROP] = "labeldrop",
    [RELABEL_LABELKEEP] = "labelkeep", [RELABEL_LOWERCASE] = "lowercase",
    [RELABEL_UPPERCASE] = "uppercase", NULL,
};

/* Prometheus anchors an expression and lets a dot match newlines. */
static struct regex *read_regex(struct arena *a, struct str pattern,
                                struct error *err)
{
    return regex_new(
        str_from(arena_printf(a, "(?s:%" STR_FMT ")", STR_ARG(pattern))), err);
}

static bool needs_target(enum relabel_action action)
{
    switch (action) {
    case RELABEL_REPLACE:
    case RELABEL_HASHMOD:
    case RELABEL_LOWERCASE:
    case RELABEL_UPPERCASE:
    case RELABEL_KEEPEQUAL:
    case RELABEL_DROPEQUAL:
        return true;
    default:
        return false;
    }
}

static bool check(const struct relabel_rule *r, const struct node *n,
                  struct error *err)
{
    const char *word = action_words[r->action];

    if (needs_target(r->action) && r->target_label.n == 0)
        return node_fail(n, err, "needs target_label for the action %s", word);
    if (r->action == RELABEL_HASHMOD && r->modulus == 0)
        return node_fail(n, err, "needs a modulus above 0 for hashmod");
    if (needs_target(r->action) && r->action != RELABEL_REPLACE &&
        !relabel_is_label_name(r->target_label))
        return node_fail(node_get(n, "target_label"), err,
                         "must be a label name: letters, digits and _");
    if ((r->action == RELABEL_LABELDROP || r->action == RELABEL_LABELKEEP) &&
        (r->n_source_labels || r->target_label.n))
        return node_fail(n, err,
                         "must have no other key than regex for the "
                         "action %s",
                         word);
    return true;
}

static bool read_rule(struct relabel_rule *out, struct arena *a,
                      const struct node *n, struct error *err)
{
    struct keys_relabel k = {0};
    size_t action = RELABEL_REPLACE;
    struct error reason;

    if (!keys_read(KEYS_RELABEL, n, &k, a, err) ||
        !node_choice(n, "action", action_words, &action, err) ||
        !node_check_keys(n, err))
        return false;
    *out = (struct relabel_rule){
        .action = (enum relabel_action)action,
        .source_labels = k.source_labels.list.v,
        .n_source_labels = k.source_labels.list.n,
        .separator = k.separator,
        .target_label = k.target_label,
        .replacement = k.replacement,
        .modulus = k.modulus,
    };
    if (!check(out, n, err))
        return false;
    out->regex = read_regex(a, k.regex, &reason);
    return out->regex != NULL ||
           node_fail(node_get(n, "regex"), err, "is wrong: %s", reason.text);
}

bool relabel_read(struct relabel_rules *out, struct arena *a,
                  const struct node *list, struct error *err)
{
    struct relabel_rules rules = {
        .v = arena_new_array(a, struct relabel_rule, list->n)};

    for (; rules.n < list->n; rules.n++)
        if (!node_is_map(list->items[rules.n], err) ||
            !read_rule(&rules.v[rules.n], a, list->items[rules.n], err)) {
            relabel_release(&rules);
            return false;
        }
    *out = rules;
    return true;
}

void relabel_release(struct relabel_rules *rules)
{
    for (size_t i = 0; i < rules->n; i++)
        regex_free(rules->v[i].regex);
    rules->n = 0;
}
