/*
 * Relabelling: a text of rules, an empty line, and labels, one a line, as
 * name=value.  Whatever the rules are, a target that is kept has labels that
 * are sorted, not empty, and within the limits.
 */
#include <stdlib.h>

#include "collector/scrape/relabel.h"
#include "config/document.h"

static void must(bool condition)
{
    if (!condition)
        abort();
}

static void read_labels(struct arena *a, struct label_set *out, struct str text)
{
    struct str line;

    while (str_next_line(&text, &line) && out->n < 64) {
        ptrdiff_t equals = str_find_char(line, '=');

        if (equals > 0)
            label_set_put(a, out, str_first(line, (size_t)equals),
                          str_skip(line, (size_t)equals + 1));
    }
}

static void check(const struct label_set *s)
{
    must(s->n <= RELABEL_MAX_LABELS);
    for (size_t i = 0; i < s->n; i++) {
        must(s->v[i].value.n > 0);
        must(i == 0 || str_cmp(s->v[i - 1].name, s->v[i].name) < 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct document_limits limits = {
        .bytes = 1 << 14, .nodes = 1 << 10, .depth = 8};
    struct str text = str_of((const char *)data, size);
    ptrdiff_t end = str_find(text, STR("\n\n"));
    struct arena *a = arena_new();
    struct relabel_rules rules = {0};
    struct label_set set = {0};
    struct error err;
    const struct node *root = document_read_yaml(
        a,
        (struct document_source){"rules",
                                 end < 0 ? text : str_first(text, (size_t)end)},
        &limits, &err);
    bool keep;

    if (root && root->kind == NODE_LIST &&
        relabel_read(&rules, a, root, &err)) {
        read_labels(a, &set, end < 0 ? STR("") : str_skip(text, (size_t)end));
        if (relabel_apply(&rules, a, &set, &keep, &err))
            check(&set);
        relabel_release(&rules);
    }
    arena_free(a);
    return 0;
}
