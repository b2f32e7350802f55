#ifndef RUNTIME_HEAP_HEAP_LIMIT_H
#define RUNTIME_HEAP_HEAP_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Writes a heap profile before the memory is used up: a process that the OOM
 * killer has ended cannot be profiled any more.
 *
 *   PPROF_HEAP_DUMP_AT=80%,90%  when so much of the limit is used, once each
 *   PPROF_HEAP_DUMP_DIR=DIR     a file heap.PROGRAM.PID.90.pb.gz there, whole
 *                               or not at all; and/or
 *   PPROF_HEAP_DUMP_URL=URL     a POST to this collector, else to that of
 *                               PPROF_COLLECTOR, with the same service and
 *                               labels as all that is pushed (push_labels.h)
 *                               and a label `note`
 *
 * A file that was not pushed is pushed by the next start of the program
 * (push_dumps.h).
 *
 * The limit is the tightest of: that of the memory cgroup or of one above it
 * (version 2 or 1; page cache that can be reclaimed does not count as used),
 * and RLIMIT_AS.
 */
struct memory_use {
    uint64_t used, limit;
};

/* How much of the tightest limit is used; false: there is none.  The paths are
 * /sys/fs/cgroup and /proc/self/cgroup. */
bool heap_limit_read(const char *cgroup_root, const char *cgroup_file,
                     struct memory_use *out);

/* Returns true if there is a limit to watch.  Reads the environment at the
 * first call. */
bool heap_limit_is_set(void);

/* Checks the limits and writes the dumps that are due.  Returns the nanoseconds
 * until the next check. */
int64_t heap_limit_look(void);

#endif
