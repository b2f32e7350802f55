#ifndef RUNTIME_WRITE_SNAPSHOT_H
#define RUNTIME_WRITE_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "runtime/thread/threads.h"
#include "runtime/unwind/stack_table.h"
#include "runtime/write/writer.h"

/*
 * A profile as it was at one moment.  Each kind of profile has a function
 * that takes one.  A delta is two snapshots: take, wait, take, subtract,
 * write.
 */
struct snapshot {
    struct profile_spec spec;
    struct stack_table table;
    struct threads threads; /* of a dump, else empty */
};

/* A snapshot of counts with an empty table of `slots` slots (a power of two)
 * and `bytes` bytes; _take functions start with it.  False: out of memory. */
bool snapshot_begin(struct snapshot *s, const char *name, uint32_t slots,
                    size_t bytes, struct error *err);
void snapshot_release(struct snapshot *s);

/* Of threads: each one by itself, with name and id as labels. */
bool snapshot_label_threads(struct snapshot *s, struct error *err);
bool snapshot_subtract(struct snapshot *after, const struct snapshot *before,
                       struct error *err);
bool snapshot_write(const struct snapshot *s, struct buf *out,
                    struct error *err);

/* A kind of profile that can be taken at any moment. */
struct profile_kind {
    const char *name;
    const char *description;
    bool (*take)(struct snapshot *out, bool details, struct error *err);
    uint64_t (*count)(void);
    bool can_delta;
    bool has_dump; /* debug=2 differs from debug=1 */

    /* debug=1 in a form of its own; NULL: counts and stacks. */
    bool (*write_text)(const struct snapshot *s, struct buf *out,
                       struct error *err);
    /* Hint for the user on how to enable this profile.  NULL, or returning
     NULL: it is enabled.
     */
    const char *(*switched_off)(void);
    /* The program's own, see custom.h: then take and count are NULL. */
    const struct pprof_profile *custom;
};

#endif
