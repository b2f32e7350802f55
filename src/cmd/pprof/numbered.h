#ifndef CMD_PPROF_NUMBERED_H
#define CMD_PPROF_NUMBERED_H

#include <sys/types.h>

#include "base/arena.h"
#include "base/error.h"

/*
 * A new empty file: the first of prefix001suffix, prefix002suffix … that does
 * not exist yet.  Its name is from `a`; NULL if it cannot be created.
 */
const char *numbered_file(struct arena *a, const char *prefix,
                          const char *suffix, mode_t mode, struct error *err);

#endif
