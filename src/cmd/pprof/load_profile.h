#ifndef CMD_PPROF_LOAD_PROFILE_H
#define CMD_PPROF_LOAD_PROFILE_H

#include "base/buf.h"
#include "cmd/pprof/options.h"
#include "profile/diff.h"

/*
 * The profile that the command line names: every source fetched and merged, the
 * base subtracted, symbolized, pruned, and a copy kept if it came from
 * elsewhere.  Says on stderr what happens.  NULL and err if there is none.
 */
struct profile *load_profile_load(const struct options *o, struct error *err);

/*
 * The same for callers that subtract the base later, possibly in several ways:
 * profile and base are returned separately, symbolized but not yet pruned.
 * Call load_profile_finish() after profile_diff(); the result is that of
 * load_profile_load().  Without a base nothing is left to do.
 */
bool source_load_apart(const struct options *o, struct profile_pair *out,
                       struct error *err);
bool load_profile_finish(const struct options *o, struct profile *p,
                         struct error *err);

/*
 * Symbolizes a profile that did not come from the command line (dropped onto
 * the page).  With open_files, binaries of this machine are searched, too.
 */
bool source_adopt(const struct options *o, struct profile *p, bool open_files,
                  struct error *err);

/*
 * Removes the marks that -fail_above needs (options.mark_base) and -base does
 * not: *p becomes what -base alone gives.
 */
bool source_unmark(const struct options *o, struct profile **p,
                   struct error *err);

/*
 * When the only source is a URL that ends in /debug/pprof/: a line for each
 * profile that the server offers, with its count.  False with err.text "" when
 * it is none.
 */
bool source_list_index(const struct options *o, struct buf *out,
                       struct error *err);

#endif
