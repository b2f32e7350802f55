#ifndef CMD_PPROF_RUN_TREE_HANDLER_H
#define CMD_PPROF_RUN_TREE_HANDLER_H

#include "cmd/pprof-run/tree_processes.h"
#include "http/server/server.h"

/*
 * /debug/pprof/ of a whole process tree: the same URLs as one process has,
 * answered by asking the processes.
 *
 *     /debug/pprof/               the profiles, and the processes
 *     /debug/pprof/processes      the processes as JSON
 *     /debug/pprof/heap?pid=4711  forwarded to that process
 *     /debug/pprof/profile        of all processes at the same time, merged;
 *                                 so is every other profile
 *     /debug/pprof/heap?debug=1   text of all, one after the other
 *     /debug/pprof/cmdline        of the process that pprof-run started, or
 *                                 of the oldest one; so are `symbol` and
 *                                 `trace`, which cannot be merged
 */
struct tree_handler {
    const struct tree_place *place;
    int main_pid;
    size_t max_reply;     /* bytes of the reply of one process */
    uint64_t max_seconds; /* the longest profile */
};

void tree_handle(const struct tree_handler *t, struct http_exchange *x);

#endif
