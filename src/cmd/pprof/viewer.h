#ifndef CMD_PPROF_VIEWER_H
#define CMD_PPROF_VIEWER_H

#include "base/arena.h"
#include "base/error.h"

/*
 * Programs that show a report: a browser, eog, evince …
 */

/* A new empty file in the directory for temporary ones; its name from `a`.  The
 * caller removes it when it is no longer needed. */
const char *viewer_file(struct arena *a, const char *extension,
                        struct error *err);

/*
 * Shows the file with `viewer` ("gv --noantialias"; "" is a browser: the first
 * that can be started).  With `wait`, waits until the viewer ends, and at least
 * one second, because some viewers hand the file to a window that is already
 * open.
 */
bool viewer_show(const char *viewer, const char *path, bool wait,
                 struct error *err);

#endif
