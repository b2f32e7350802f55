#ifndef RUNTIME_HEAP_LEAK_SCAN_H
#define RUNTIME_HEAP_LEAK_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/heap/leak_hidden.h"

/*
 * Finds the blocks that can still be reached.  It reads all memory that may
 * hold a pointer, in a copy of the process that has only the calling thread, so
 * that the program stops only while the copy is made.
 *
 * Conservative: every aligned word that looks like an address in a block is
 * taken for a pointer to it, wherever it is: in writable memory, in registers,
 * in blocks that are reached themselves.  Memory of the allocator that is not
 * one of the known blocks counts as a root, because it is not known whether it
 * is in use.
 */
struct leak_block {
    uint64_t address, size;
    uint32_t site, born; /* as in the table of live blocks */
    _Atomic uint32_t reached;
    uint32_t padding;
};

struct leak_scan {
    struct leak_block *blocks; /* by address; shared with the copy */
    size_t n;
    const struct leak_range *hidden; /* no roots; by address */
    size_t n_hidden;
    const uint64_t *words; /* further roots: registers */
    size_t n_words;
    int64_t deadline_ns; /* monotonic */

    /* Results, shared with the copy as well. */
    struct leak_result {
        uint64_t bytes;   /* of memory that was read */
        uint64_t skipped; /* could not be read */
        enum leak_end {
            LEAK_UNFINISHED, /* the copy was killed */
            LEAK_DONE,
            LEAK_LATE,          /* the deadline has passed */
            LEAK_NO_MAPS,       /* /proc/self/maps cannot be read */
            LEAK_NO_ACCESS,     /* memory cannot be read */
            LEAK_OUT_OF_MEMORY, /* for the search itself */
        } end;
    } * result;
};

/* In the copy, without libc: marks the blocks that are reached, and fills
 * *result. */
void leak_scan_run(struct leak_scan *s);

#endif
