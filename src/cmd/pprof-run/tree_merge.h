#ifndef CMD_PPROF_RUN_TREE_MERGE_H
#define CMD_PPROF_RUN_TREE_MERGE_H

#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "profile/profile.h"

/*
 * Profiles of several processes as one.  Each sample gets the labels `pid` and
 * `process`, which is the name of the process.
 *
 *     struct process_profiles all = {0};
 *     process_profiles_add(&all, bytes, 4711, STR("nginx"), &err);
 *     …
 *     process_profiles_write(&all, 0, out, &err);
 *     process_profiles_release(&all);
 */
struct process_profiles {
    struct profile **v;
    size_t n, cap;
};

/* If `name` is empty, the process is named after its program.  False: the bytes
 * are not a profile; nothing is added. */
bool process_profiles_add(struct process_profiles *all, struct str bytes,
                          int pid, struct str name, struct error *err);

/* The sum, gzip'd, appended to out.  Its duration is the longest one: the
 * processes ran side by side.  A comment has the number of processes and of
 * `missing` ones.  False: there is no profile, or they are not compatible. */
bool process_profiles_write(struct process_profiles *all, size_t missing,
                            struct buf *out, struct error *err);
void process_profiles_release(struct process_profiles *all);

#endif
