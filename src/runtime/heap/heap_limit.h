#ifndef RUNTIME_HEAP_HEAP_LIMIT_H
#define RUNTIME_HEAP_HEAP_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A heap profile before the memory is used up: the process that the OOM
 * killer takes away cannot be asked any more.
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
 * (version 2 or 1; page cache that can be given back does not count as used),
 * and RLIMIT_AS.
 */
struct memory_use {
    uint64_t used, limit;
};

/* How near the tightest limit is; false: there is none.  The paths are
 * /sys/fs/cgroup and /proc/self/cgroup. */
bool heap_limit_read(const char *cgroup_root, const char *cgroup_file,
                     struct memory_use *out);

/* Is there something to watch?  Reads the environment when it is called
 * first. */
bool heap_limit_is_set(void);

/* Looks, and dumps what is due.  Nanoseconds until the next look. */
int64_t heap_limit_look(void);

#endif
