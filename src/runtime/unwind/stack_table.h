#ifndef RUNTIME_UNWIND_STACK_TABLE_H
#define RUNTIME_UNWIND_STACK_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/unwind/unwind.h"

/*
 * Different stacks, each once, with numbers added up per stack.
 *
 * Open addressing over records that are bump-allocated and never move.  Any
 * number of threads and signal handlers may add at once, without a lock; a
 * full table refuses and counts.  Memory is reserved at init and touched as
 * it is used.
 *
 * A record's key is its frames and a tag, which is the caller's (a thread, a
 * set of labels, a size class; 0 for none).
 */
#define STACK_VALUES   6
#define STACK_RUN      32
#define STACK_RUN_WORD 64 /* runs in a word of bits */

/* Frames that are no code: addresses that no program has. */
enum {
    FRAME_TRUNCATED = 1, /* the stack was deeper than could be walked */
    FRAME_NO_STACK = 2,  /* a thread that did not answer */
    FRAME_NO_ROOM = 3,   /* stacks beyond what a table can hold */
};

struct stack_record {
    uint64_t hash, tag;
    uint32_t n; /* frames */
    uint32_t padding;
    _Atomic int64_t values[STACK_VALUES];
    uint64_t pcs[]; /* leaf first */
};

struct stack_table {
    _Atomic uint32_t *slots; /* offset of a record in units of 8, 0: free */
    uint32_t n_slots;        /* a power of two */
    /* A bit for each run of STACK_RUN slots: one of them is or was about to be
     * taken.  Reading a table that is nearly empty takes as long as it has
     * records, not slots. */
    _Atomic uint64_t *runs;
    uint64_t *arena;
    _Atomic uint64_t used;    /* words of the arena */
    uint64_t cap;             /* words there are */
    _Atomic uint64_t refused; /* stacks that found no room */
    _Atomic uint32_t n;       /* records */
};

/* Room for `bytes` of records and about slots * 0.7 of them.  False: out of
 * memory. */
bool stack_table_init(struct stack_table *t, uint32_t slots, size_t bytes);
void stack_table_release(struct stack_table *t);
void stack_table_clear(struct stack_table *t); /* while nobody adds */

/* The record of a stack, made with zero values when new; NULL when the table
 * is full.  Async-signal-safe. */
struct stack_record *stack_table_add(struct stack_table *t, const uint64_t *pcs,
                                     size_t n, uint64_t tag);

/* The record of a stack that is there; NULL: it is not.
 * Async-signal-safe. */
struct stack_record *stack_table_find(const struct stack_table *t,
                                      const uint64_t *pcs, size_t n,
                                      uint64_t tag);

/* Before a slot is taken, so that no reader misses its record. */
static inline void stack_table_mark_run(struct stack_table *t, uint32_t slot)
{
    uint32_t run = slot / STACK_RUN;
    _Atomic uint64_t *word = &t->runs[run / STACK_RUN_WORD];
    uint64_t bit = (uint64_t)1 << run % STACK_RUN_WORD;

    if (!(atomic_load_explicit(word, memory_order_relaxed) & bit))
        atomic_fetch_or_explicit(word, bit, memory_order_relaxed);
}

/* Adds to one of a record's values.  Async-signal-safe. */
static inline void stack_record_count(struct stack_record *r, unsigned value,
                                      int64_t by)
{
    atomic_fetch_add_explicit(&r->values[value], by, memory_order_relaxed);
}

/* Every record, in no order: start with *at = 0; NULL at the end. */
const struct stack_record *stack_table_next(const struct stack_table *t,
                                            uint32_t *at);

#endif
