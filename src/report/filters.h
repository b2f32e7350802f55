#ifndef REPORT_FILTERS_H
#define REPORT_FILTERS_H

#include "report/context.h"

/*
 * Applies focus, ignore, hide, show, show_from, tagfocus, tagignore,
 * tagshow, taghide and prune_from of the report's config to its profile.
 * Warns about an option that matched nothing.  Fails with "parsing NAME
 * regexp: …".
 */
bool report_apply_filters(struct report *r, struct error *err);

#endif
