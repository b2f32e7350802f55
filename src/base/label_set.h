#ifndef BASE_LABEL_SET_H
#define BASE_LABEL_SET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"

/*
 * Names with values, sorted by name, each name once: the labels of a target
 * or of a profile.
 *
 * As in Prometheus, a label with an empty value does not exist: setting a label
 * to "" removes it, and looking up a missing one gives "".  The set does not
 * own its texts; label_set_copy() copies them.
 */
struct label_pair {
    struct str name, value;
};

struct label_set {
    struct label_pair *v;
    size_t n, cap;
};

/* The value, or "". */
struct str label_set_get(const struct label_set *s, struct str name);

/* Adds, replaces or, if the value is "", removes.  Room comes from `a`. */
void label_set_put(struct arena *a, struct label_set *s, struct str name,
                   struct str value);

/* A copy with its texts, all from `a`. */
struct label_set label_set_copy(struct arena *a, const struct label_set *s);

bool label_set_equal(const struct label_set *x, const struct label_set *y);

#endif
