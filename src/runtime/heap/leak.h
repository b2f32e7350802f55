#ifndef RUNTIME_HEAP_LEAK_H
#define RUNTIME_HEAP_LEAK_H

#include "runtime/write/snapshot.h"

/*
 * The profile `leak`: sampled blocks that are older than an age and that
 * nothing points to any more.
 *
 * On request only.  The registers of each thread are taken as for a thread
 * dump, then a copy of the process looks through its memory (leak_scan.h); the
 * program stops while the copy is made, and the profile's comments have the
 * duration.  Findings are checked a second time, so that a pointer which was
 * just being moved is not reported as a leak.
 *
 * Of a thread that waits only the stack pointer and the arguments of its
 * system call are known.  A block that nothing but a callee-saved register of
 * such a thread points to would be listed; the comments count these threads.
 *
 * Memory that the search leaves out is described in leak_hidden.h.
 *
 * Blocks that only other lost blocks point to are found if those are sampled
 * too; at rate 1 all of them are.
 */
#define LEAK_AGE_NS ((int64_t)60 * 1000000000)

bool leak_take_older(struct snapshot *s, int64_t age_ns, struct error *err);

/* For profiles.c: older than LEAK_AGE_NS. */
bool leak_take(struct snapshot *s, bool details, struct error *err);
bool leak_write_text(const struct snapshot *s, struct buf *out,
                     struct error *err); /* counts, stacks, comments */
uint64_t leak_count(void);               /* 0: not known without a search */

#endif
