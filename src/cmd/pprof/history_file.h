#ifndef CMD_PPROF_HISTORY_FILE_H
#define CMD_PPROF_HISTORY_FILE_H

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"

/*
 * The lines of earlier shells, oldest first, in $XDG_STATE_HOME/pprof/history
 * ($HOME/.local/state if it is not set): a line each, added as it is entered,
 * so that several shells do not overwrite each other's lines.  A file that
 * cannot be read or written is ignored.
 */
struct history_file {
    const char *path; /* NULL: there is no home directory */
    VEC(struct str) lines;
};

/* Memory from `a`.  A file that has grown too long is cut. */
void history_file_open(struct history_file *h, struct arena *a);

void history_file_add(const struct history_file *h, struct str line);

#endif
