#ifndef CMD_PPROF_SERVE_H
#define CMD_PPROF_SERVE_H

#include "cmd/pprof/options.h"
#include "profile/profile.h"

/*
 * -http: serves the page until Ctrl-C or SIGTERM, and opens a browser on it
 * if there is somebody to look.  The profile is used up.
 */
bool serve_page(const struct options *o, struct profile *p, struct error *err);

#endif
