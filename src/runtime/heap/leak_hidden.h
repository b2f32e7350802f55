#ifndef RUNTIME_HEAP_LEAK_HIDDEN_H
#define RUNTIME_HEAP_LEAK_HIDDEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/thread/threads.h"

/*
 * Memory that the search for lost blocks must not take for a root:
 *
 * - our own tables, which contain the addresses of all blocks, and the stacks
 *   of our own threads;
 * - the part of a waiting thread's stack below its stack pointer.  Old frames
 *   leave their pointers there, whole or half overwritten, and one of them is
 *   enough to hide a lost list.
 *
 * A thread may wake up before the copy of the process is made.  Then its
 * stack pointer is not where it was, and the range is dropped:
 *
 *     leak_hidden_fill(&h, …);
 *     if (clone() == 0) {
 *         leak_hidden_wait(&h, deadline);    // in the copy
 *         … h.ranges, h.n
 *     }
 *     leak_hidden_check(&h);                 // in the process
 */
struct leak_range {
    uint64_t start, limit;
    int64_t cpu_ns; /* of the thread, when the range was right */
    int tid;        /* 0: the range is always right */
};

struct leak_hidden {
    struct leak_range *ranges; /* by address; shared with the copy */
    size_t n;
    _Atomic uint32_t *is_checked; /* shared with the copy */
};

bool leak_hidden_init(struct leak_hidden *h); /* false: out of memory */
void leak_hidden_release(struct leak_hidden *h);

/* `table`, with the addresses of all blocks, and what lies below `frame` on
 * the calling thread's stack are ours. */
void leak_hidden_fill(struct leak_hidden *h, const struct threads *threads,
                      struct leak_range table, uint64_t frame);

/* Drops the ranges of threads that have run, and lets the copy go on. */
void leak_hidden_check(struct leak_hidden *h);

/* Without libc.  False: the deadline has passed. */
bool leak_hidden_wait(struct leak_hidden *h, int64_t deadline_ns);

#endif
