#ifndef RUNTIME_HEAP_HEAP_PEAK_H
#define RUNTIME_HEAP_HEAP_PEAK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/unwind/stack_table.h"

/*
 * The memory in use at the peak: a program that frees everything has an empty
 * heap profile at its end.
 *
 * The sum of all blocks in use is kept while they come and go.  When a block
 * is about to be freed and the sum is at a new maximum, the counts of all
 * sites are copied; while memory only grows nothing is copied.  To bound the
 * cost of a program that grows and frees in turns, a new maximum must be more
 * than 1/128 above the last one, so the peak is known to one per cent.
 *
 * The copy takes some nanoseconds for each site, in the thread that frees.
 * Threads that come meanwhile do not wait for it, and what they do may or may
 * not be in the copy.
 */
struct heap_peak {
    _Atomic int64_t in_use;  /* bytes that the blocks in use stand for */
    _Atomic int64_t bytes;   /* in_use at the last copy */
    _Atomic int64_t time_ns; /* of the last copy, since 1970 */
    _Atomic bool is_copying;
};

/* A sampled block of the site has been counted. */
void heap_peak_grow(struct heap_peak *p, const struct stack_record *site);

/* A sampled block of the site is about to be counted as freed. */
void heap_peak_shrink(struct heap_peak *p, const struct stack_record *site);

/* Copies if now is the peak; before the copy is read. */
void heap_peak_settle(struct heap_peak *p);

/* In a forked child: the thread that was copying is not there. */
void heap_peak_after_fork(struct heap_peak *p);

#endif
