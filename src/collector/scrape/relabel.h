#ifndef COLLECTOR_SCRAPE_RELABEL_H
#define COLLECTOR_SCRAPE_RELABEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/label_set.h"
#include "config/node.h"
#include "regex/regex.h"

/*
 * Prometheus' relabelling: rules that keep, drop and rewrite the labels of a
 * target, one after another.  docs/scraping.md describes the actions;
 * everything else is as in Prometheus:
 *
 * - regular expressions are RE2's and cover the whole value;
 * - $1, ${1}, ${name} and $$ in `replacement` and `target_label`;
 * - a replacement that becomes "" removes the label;
 * - hashmod takes the last eight bytes of the MD5 sum, so that collectors of
 *   both kinds share targets in the same way.
 *
 * One thing differs: lowercase and uppercase change ASCII letters only.
 */
enum relabel_action {
    RELABEL_REPLACE,
    RELABEL_KEEP,
    RELABEL_DROP,
    RELABEL_KEEPEQUAL,
    RELABEL_DROPEQUAL,
    RELABEL_HASHMOD,
    RELABEL_LABELMAP,
    RELABEL_LABELDROP,
    RELABEL_LABELKEEP,
    RELABEL_LOWERCASE,
    RELABEL_UPPERCASE,
};

struct relabel_rule {
    enum relabel_action action;
    struct str *source_labels;
    size_t n_source_labels;
    struct str separator, target_label, replacement;
    uint64_t modulus;
    struct regex *regex;
};

struct relabel_rules {
    struct relabel_rule *v; /* from an arena; the regexes are not */
    size_t n;
};

/* The value of `relabel_configs`.  Texts are from `a`; false leaves nothing
 * to release. */
bool relabel_read(struct relabel_rules *out, struct arena *a,
                  const struct node *list, struct error *err);
void relabel_release(struct relabel_rules *rules);

/*
 * Applies the rules to *set, with room from `a`.  *keep says whether the
 * target remains.  False: a value or the set became larger than the limits
 * below, which only a mistake in the rules can cause.
 */
#define RELABEL_MAX_LABELS 512
#define RELABEL_MAX_VALUE  (16u << 10)

bool relabel_apply(const struct relabel_rules *rules, struct arena *a,
                   struct label_set *set, bool *keep, struct error *err);

/* [a-zA-Z_][a-zA-Z0-9_]* */
bool relabel_is_label_name(struct str name);

#endif
