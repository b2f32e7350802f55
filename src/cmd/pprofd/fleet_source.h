#ifndef CMD_PPROFD_FLEET_SOURCE_H
#define CMD_PPROFD_FLEET_SOURCE_H

#include <stddef.h>

#include "page/page_source.h"
#include "store/store.h"

/*
 * The profiles of a store for the page: selections are those of
 * collector/query/selection.h, and their profile is the merge.
 *
 * The content id is made from the version of the selection
 * (store_get_version()), so that "the last hour" gets a new id as soon as its
 * profiles change.  A client whose token is restricted to services sees only
 * those; its ids differ from those of other clients.
 *
 * A page asks for several things about the same selection at once.  The last
 * merges are kept, and requests for one that is being made wait for it.
 */
struct fleet_source_options {
    struct store *store;       /* outlives the page */
    struct store_budget query; /* limits of one merge; 0: none */
    size_t kept_samples;       /* in all merges that are kept; 0: the default */
};

struct page_source fleet_source(const struct fleet_source_options *options);

#endif
