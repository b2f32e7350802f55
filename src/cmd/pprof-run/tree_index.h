#ifndef CMD_PPROF_RUN_TREE_INDEX_H
#define CMD_PPROF_RUN_TREE_INDEX_H

#include "base/arena.h"
#include "base/buf.h"
#include "cmd/pprof-run/tree_ask.h"

/*
 * The page at /debug/pprof/ of a process tree: the profiles that any process
 * has, with their counts added up, and the processes.  It is made of the
 * pages of the processes.  With a pid its links lead to that process alone.
 */
void tree_index_write(const struct tree_reply *pages, size_t n, int pid,
                      struct arena *a, struct buf *out);

#endif
