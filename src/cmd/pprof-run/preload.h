#ifndef CMD_PPROF_RUN_PRELOAD_H
#define CMD_PPROF_RUN_PRELOAD_H

#include <stdbool.h>

#include "base/error.h"

/*
 * libpprof-preload.so: where it is, and putting it into LD_PRELOAD.
 *
 * Searched beside pprof-run (a build directory), in the library directory of
 * the tree that pprof-run is in (which may have been moved), and in the
 * installation directory.  False: not found; the error lists the places.
 */
bool preload_set(struct error *err);

/* Says on stderr why LD_PRELOAD cannot reach the program, if it cannot.  A
 * program that could not start with our library is started without it. */
void preload_explain(const char *program);

#endif
