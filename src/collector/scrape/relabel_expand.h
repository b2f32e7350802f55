#ifndef COLLECTOR_SCRAPE_RELABEL_EXPAND_H
#define COLLECTOR_SCRAPE_RELABEL_EXPAND_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/str.h"
#include "regex/regex.h"

/*
 * Go's Regexp.Expand for an expression that covers the whole text: $1, ${1}
 * and ${name} in the template stand for what the groups matched, $$ for a
 * dollar sign.  False if the text does not match.
 */
bool relabel_expand(const struct regex *re, struct str template,
                    struct str text, struct arena *a, struct str *out);

#endif
