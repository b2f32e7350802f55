#ifndef RUNTIME_UNWIND_TABLE_READERS_H
#define RUNTIME_UNWIND_TABLE_READERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/unwind/stack_table.h"

/*
 * One table of samples with several readers, each with its own start and end.
 * Samples are taken and counted once, however many read them.
 *
 *     table_readers_begin(&t, slots, bytes);
 *     table_readers_join(&t, A);
 *     … samples are added to table_readers_live(&t) …
 *     table_readers_join(&t, B);
 *     …
 *     table_readers_leave(&t, A, &samples_of_a);
 *     …
 *     table_readers_leave(&t, B, &samples_of_b);
 *
 * A reader remembers the counts at its start and subtracts them at its end.
 * Both are copies, made while samples are being added.
 *
 * The caller has a lock: one thread at a time may call these functions.
 */
#define TABLE_READERS 3

struct table_readers {
    struct stack_table tables[2]; /* the live one, and the next during a turn */
    unsigned at;                  /* the index of the live one */
    uint64_t refused;             /* by those that were replaced */
    struct {
        bool is_on;
        /* Counts that are not the reader's, to be subtracted.  After a turn
         * they are negative where the table that was replaced had some. */
        struct stack_table before;
    } readers[TABLE_READERS];
};

/* An empty live table; false: out of memory. */
bool table_readers_begin(struct table_readers *t, uint32_t slots, size_t bytes);

static inline struct stack_table *table_readers_live(struct table_readers *t)
{
    return &t->tables[t->at];
}

bool table_readers_any(const struct table_readers *t);
bool table_readers_others(const struct table_readers *t, unsigned reader);

/* Stacks that found no room since table_readers_begin(). */
uint64_t table_readers_refused(const struct table_readers *t);

/* False: out of memory. */
bool table_readers_join(struct table_readers *t, unsigned reader);

/*
 * What was counted since the reader joined; the caller releases it.  Stacks
 * that other readers have counted may be in it with the value 0.  The last
 * reader takes the live table itself, so nothing may be added to it any more;
 * the live table is then empty, without memory.  False: out of memory; the
 * reader has left in any case.
 */
bool table_readers_leave(struct table_readers *t, unsigned reader,
                         struct stack_table *out);

/* The same, but the reader stays, and counts from this moment on. */
bool table_readers_slice(struct table_readers *t, unsigned reader,
                         struct stack_table *out);

/*
 * A live table that has become large is replaced by an empty one, so that
 * readers who overlap for ever do not fill it with stacks of the past:
 *
 *     next = table_readers_next(&t);     // NULL: not needed, or no memory
 *     … let samples go there, and wait until nobody uses the old one …
 *     table_readers_turn(&t);
 */
struct stack_table *table_readers_next(struct table_readers *t);
void table_readers_turn(struct table_readers *t);

/* Abandons everything without freeing it: a handler may still be using it. */
void table_readers_abandon(struct table_readers *t);

/* Frees everything, even if there are readers. */
void table_readers_release(struct table_readers *t);

#endif
