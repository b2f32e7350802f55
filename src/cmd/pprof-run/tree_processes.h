#ifndef CMD_PPROF_RUN_TREE_PROCESSES_H
#define CMD_PPROF_RUN_TREE_PROCESSES_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

/*
 * The processes of a program that serve their profiles.
 *
 * Each one listens at a unix socket whose name is its process id, in a
 * directory that pprof-run has made.  The directory is in two parts:
 *
 *     /tmp/pprof-run.Ab3dEf/        anybody may pass, nobody else may list it
 *         8c5f0e9d41b27a36/         anybody may create a file
 *             4711                  the socket of process 4711
 *
 * A process that has given up its privileges (gosu, su, a worker that execs)
 * can still create its socket, because the path is in its environment.
 * Another user cannot, because the inner name is a secret.
 */
struct tree_place {
    char outer[128], inner[160];
};

bool tree_place_make(struct tree_place *place, struct error *err);
void tree_place_remove(const struct tree_place *place);

struct tree_process {
    int pid;
    struct str name;    /* as in ps: "nginx" */
    struct str command; /* "nginx: worker process" */
};

struct tree_processes {
    VEC(struct tree_process) list; /* by process id */
};

/* Those that are alive; sockets that dead ones have left are removed. */
void tree_processes_list(const struct tree_place *place, struct arena *a,
                         struct tree_processes *out);

/* Is any of them alive? */
bool tree_processes_any(const struct tree_place *place);

#endif
