#ifndef COLLECTOR_SCRAPE_KINDS_H
#define COLLECTOR_SCRAPE_KINDS_H

#include <stdbool.h>

#include "base/str.h"

/*
 * The profiles that endpoints offer, by the names that configurations use,
 * Parca's and Alloy's among them.
 */
struct scrape_kind {
    struct str name; /* in the configuration */
    struct str type; /* in the store */
    struct str path; /* below the index page; "../x" is beside it */
    bool measures;   /* takes ?seconds= and runs so long */
    bool is_delta;   /* sends differences by itself */
    bool is_opaque;  /* not a profile: stored as it is */
    /* Fetched if the index page lists `path` and the job names no profiles. */
    bool by_default;
};

/* The kind with that name.  A name that is not known is a profile of that
 * path and type; false if it cannot be a type. */
bool scrape_kind_named(struct str name, struct scrape_kind *out);

/* The kind of a profile that Parca's configuration calls `name` and that is
 * fetched from `path`, "" for the default: its memory profile is heap or
 * allocs by the path. */
bool scrape_kind_of_parca(struct str name, struct str path,
                          struct scrape_kind *out);

/* The kinds that are known, for choosing from an index page. */
extern const struct scrape_kind scrape_kinds[];
extern const size_t scrape_kinds_n;

#endif
