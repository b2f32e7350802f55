#ifndef FETCH_INDEX_H
#define FETCH_INDEX_H

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"

/*
 * The profiles that a /debug/pprof/ page offers.
 */
struct index_entry {
    struct str name;
    struct str count; /* as the page shows it; "" if it does not */
};

struct index_entries {
    VEC(struct index_entry) list;
};

/* Parses the page; false if it is not an index page.  The texts point into
 * it. */
bool index_parse(struct arena *a, struct str page, struct index_entries *out);

#endif
