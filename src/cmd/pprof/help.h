#ifndef CMD_PPROF_HELP_H
#define CMD_PPROF_HELP_H

#include "base/buf.h"
#include "report/config.h"

/*
 * The texts that -help and the shell's "help" show.  Without `all` (or
 * `ours_only`) they are google/pprof's, byte for byte.
 */

void help_add_usage(struct buf *out, bool all);

/* How to see what the usage leaves out without `all`. */
void help_add_hint(struct buf *out);

/* "    -top             Outputs top entries in text form": the commands that
 * google/pprof has, or those that only we have. */
void help_add_commands(struct buf *out, const char *prefix, bool ours_only);

/* Options and groups of options. */
void help_add_options(struct buf *out, const char *prefix);

/* The options by name; an array of config_n_fields from `a`. */
const struct config_field **help_sorted_fields(struct arena *a);

#endif
