#ifndef RUNTIME_PUSH_PUSH_DUMPS_H
#define RUNTIME_PUSH_PUSH_DUMPS_H

#include <stddef.h>

/*
 * Heap profiles that an earlier process of this service wrote shortly before
 * it was killed (PPROF_HEAP_DUMP_AT, PPROF_HEAP_DUMP_DIR; heap_limit.h).
 *
 * They are pushed by the next start of the program.  The process itself may
 * have no time, and pprof-run is gone: it has become the program, and the OOM
 * killer takes all processes of a container at once.  What remains is the
 * directory, if it outlives the container.
 *
 * A file that was pushed is renamed to *.sent, so that it is pushed once.
 */

/* The beginning of the names of a service's files: "heap.SERVICE.". */
#define PUSH_DUMP_PREFIX_MAX 256
void push_dumps_prefix(const char *service, char *out, size_t size);

/* Reads PPROF_HEAP_DUMP_DIR, for the functions below. */
void push_dumps_read_environment(void);

/* Queues the files that are left; at most 16. */
void push_dumps_find(void);

void push_dumps_mark_sent(const char *path);

#endif
