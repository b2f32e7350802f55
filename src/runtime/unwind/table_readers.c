/*
 * Subtracting is adding with the sign changed, and a turn is that as well: the
 * counts of the table that goes away are subtracted from what each reader will
 * subtract.  So there is one operation, add(), and no case for who came first.
 */
#include "runtime/unwind/table_readers.h"

#include <assert.h>

bool table_readers_begin(struct table_readers *t, uint32_t slots, size_t bytes)
{
    assert(!table_readers_any(t));
    t->refused = 0;
    return stack_table_init(table_readers_live(t), slots, bytes);
}

bool table_readers_any(const struct table_readers *t)
{
    return table_readers_others(t, TABLE_READERS);
}

bool table_readers_others(const struct table_readers *t, unsigned reader)
{
    for (unsigned i = 0; i < TABLE_READERS; i++)
        if (i != reader && t->readers[i].is_on)
            return true;
    return false;
}

uint64_t table_readers_refused(const struct table_readers *t)
{
    return t->refused + atomic_load(&t->tables[t->at].refused);
}

static void copy_record(struct stack_record *to,
                        const struct stack_record *from)
{
    to->hash = from->hash;
    to->tag = from->tag;
    to->n = from->n;
    for (unsigned i = 0; i < STACK_VALUES; i++)
        atomic_store_explicit(
            &to->values[i],
            atomic_load_explicit(&from->values[i], memory_order_relaxed),
            memory_order_relaxed);
    for (size_t i = 0; i < from->n; i++)
        to->pcs[i] = from->pcs[i];
}

/* The same records at the same places, taken while others may add.  A record
 * is complete before a slot has it, and stays where it is.  Those that were
 * begun meanwhile are left out, and their places unused. */
static bool copy_table(struct stack_table *out, const struct stack_table *from)
{
    const struct stack_record *r;
    uint32_t n = 0, next = 0;

    if (!stack_table_init(out, from->n_slots, from->cap * 8))
        return false;
    while ((r = stack_table_next(from, &next)) != NULL) {
        uint32_t at = (uint32_t)((const uint64_t *)r - from->arena);

        copy_record((struct stack_record *)(out->arena + at), r);
        stack_table_mark_run(out, next - 1);
        atomic_store_explicit(&out->slots[next - 1], at, memory_order_relaxed);
        n++;
    }
    atomic_store(&out->n, n);
    atomic_store(&out->used, atomic_load(&from->used));
    atomic_store(&out->refused, atomic_load(&from->refused));
    return true;
}

/* to += sign * from; what finds no room is counted as refused. */
static void add(struct stack_table *to, const struct stack_table *from,
                int64_t sign)
{
    const struct stack_record *r;
    uint32_t at = 0;

    while ((r = stack_table_next(from, &at)) != NULL) {
        struct stack_record *mine = stack_table_add(to, r->pcs, r->n, r->tag);

        for (unsigned i = 0; mine && i < STACK_VALUES; i++)
            stack_record_count(mine, i, sign * atomic_load(&r->values[i]));
    }
}

bool table_readers_join(struct table_readers *t, unsigned reader)
{
    struct stack_table *before = &t->readers[reader].before;

    assert(!t->readers[reader].is_on);
    if (!copy_table(before, table_readers_live(t)))
        return false;
    t->readers[reader].is_on = true;
    return true;
}

bool table_readers_leave(struct table_readers *t, unsigned reader,
                         struct stack_table *out)
{
    struct stack_table before = t->readers[reader].before;
    bool ok = true;

    assert(t->readers[reader].is_on);
    t->readers[reader].is_on = false;
    t->readers[reader].before = (struct stack_table){0};
    if (table_readers_any(t)) {
        ok = copy_table(out, table_readers_live(t));
    } else {
        *out = *table_readers_live(t);
        *table_readers_live(t) = (struct stack_table){0};
    }
    if (ok)
        add(out, &before, -1);
    stack_table_release(&before);
    return ok;
}

bool table_readers_slice(struct table_readers *t, unsigned reader,
                         struct stack_table *out)
{
    struct stack_table now;

    assert(t->readers[reader].is_on);
    if (!copy_table(&now, table_readers_live(t)))
        return false;
    if (!copy_table(out, &now)) {
        stack_table_release(&now);
        return false;
    }
    add(out, &t->readers[reader].before, -1);
    stack_table_release(&t->readers[reader].before);
    t->readers[reader].before = now;
    return true;
}

struct stack_table *table_readers_next(struct table_readers *t)
{
    const struct stack_table *live = table_readers_live(t);
    struct stack_table *next = &t->tables[!t->at];

    if (atomic_load(&live->used) < live->cap / 2 &&
        atomic_load(&live->n) < live->n_slots / 2)
        return NULL;
    return stack_table_init(next, live->n_slots, live->cap * 8) ? next : NULL;
}

void table_readers_turn(struct table_readers *t)
{
    struct stack_table *old = table_readers_live(t);

    t->refused += atomic_load(&old->refused);
    t->at = !t->at;
    for (unsigned i = 0; i < TABLE_READERS; i++)
        if (t->readers[i].is_on)
            add(&t->readers[i].before, old, -1);
    stack_table_release(old);
}

void table_readers_abandon(struct table_readers *t)
{
    *t = (struct table_readers){0};
}

void table_readers_release(struct table_readers *t)
{
    for (unsigned i = 0; i < TABLE_READERS; i++)
        stack_table_release(&t->readers[i].before);
    stack_table_release(&t->tables[0]);
    stack_table_release(&t->tables[1]);
    table_readers_abandon(t);
}
