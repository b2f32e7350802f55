#ifndef CMD_PPROF_SERVE_H
#define CMD_PPROF_SERVE_H

#include "cmd/pprof/options.h"
#include "profile/diff.h"

/*
 * -http: serves the page until Ctrl-C or SIGTERM, and opens a browser if there
 * is a display.  The profiles, from source_load_apart(), are consumed.
 */
bool serve_page(const struct options *o, struct profile_pair profiles,
                struct error *err);

#endif
