#ifndef CMD_PPROF_RUN_TREE_SERVER_H
#define CMD_PPROF_RUN_TREE_SERVER_H

#include <stdbool.h>

#include "base/error.h"

/*
 * The endpoint of a whole process tree: one listener at PPROF_ADDR, which
 * passes requests on to the processes (tree_handler.h).
 *
 * It is a process of its own, and neither parent nor child of the program:
 * pprof-run becomes the program after this, so that process id, signals and
 * exit status are the program's, and the program's wait() sees no process that
 * it did not start.  It ends when the last process of the tree has ended.
 *
 * Changes the environment: the program and its children serve at private
 * unix sockets, without a line on stderr.  False: nothing can be served.
 */
bool tree_server_start(const char *program, struct error *err);

#endif
