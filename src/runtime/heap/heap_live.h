#ifndef RUNTIME_HEAP_HEAP_LIVE_H
#define RUNTIME_HEAP_HEAP_LIVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The sampled blocks that are not freed yet, by address.
 *
 * Only the owner of a block may free it, so two threads never add or remove the
 * same address at once.  The only race is for a free slot, so no lock is
 * needed.  Signal handlers may do everything here.
 *
 * Levels of buckets, each level four times the one above it.  A block goes
 * into the one bucket of the first level that its address names; when all
 * slots there are taken, into that of the next level.  A bucket counts the
 * blocks that had to pass it, and a look-up stops where nobody passed.  So
 * removing leaves no trace (no tombstones, nothing moves), a look-up costs
 * the same after any number of samples, and a level's memory is taken when
 * it is needed first:
 *
 *     level 0   2,048 buckets of 7   256 KiB    14 thousand blocks
 *     level 1   8,192                  1 MiB    57 thousand
 *     …
 *     level 5   2 million            256 MiB    15 million (rate 1)
 */
#define LIVE_LEVELS 6
#define LIVE_SLOTS  7

struct live_slot {
    _Atomic uint64_t address; /* 0: free, 1: being filled */
    _Atomic uint64_t data;
};

struct live_bucket {
    _Atomic uint64_t passed; /* blocks of this bucket in deeper levels */
    uint64_t padding;
    struct live_slot slots[LIVE_SLOTS];
};

struct heap_live {
    _Atomic(struct live_bucket *) levels[LIVE_LEVELS];
    _Atomic uint64_t n;
    _Atomic uint64_t refused; /* blocks that found no room */
};

/* What is kept of a block. */
struct live_block {
    uint64_t address;
    uint32_t site; /* the caller's */
    uint32_t born; /* the caller's clock */
};

/* False: no room, and counted as refused. */
bool heap_live_add(struct heap_live *t, const struct live_block *block);

/* False: it is not there. */
bool heap_live_remove(struct heap_live *t, uint64_t address,
                      struct live_block *out);

/* Looks without removing. */
bool heap_live_find(const struct heap_live *t, uint64_t address,
                    struct live_block *out);

/* Calls `each` for every block that is there; those that come or go
 * meanwhile may be missed. */
void heap_live_each(const struct heap_live *t,
                    void (*each)(void *ctx, const struct live_block *block),
                    void *ctx);

size_t heap_live_level_bytes(unsigned level); /* memory of one */
void heap_live_release(struct heap_live *t);

#endif
