/*
 * SIGNAL CONTEXT for stack_table_add(): see the contract in unwind.c.
 */
#include "runtime/unwind/stack_table.h"

#include <assert.h>
#include <sys/mman.h>

#include "base/pages.h"

#define RECORD_WORDS (sizeof(struct stack_record) / 8)

/* The slots, and the runs behind them. */
static size_t index_bytes(uint32_t slots)
{
    size_t words = (slots / STACK_RUN + STACK_RUN_WORD - 1) / STACK_RUN_WORD;

    return slots * sizeof(_Atomic uint32_t) + words * sizeof(_Atomic uint64_t);
}

bool stack_table_init(struct stack_table *t, uint32_t slots, size_t bytes)
{
    assert(slots >= STACK_RUN && (slots & (slots - 1)) == 0);
    *t = (struct stack_table){.n_slots = slots, .cap = bytes / 8};
    t->slots = pages_alloc(index_bytes(slots));
    t->arena = pages_alloc(bytes);
    atomic_store(&t->used, 1); /* offset 0 means a free slot */
    if (t->slots && t->arena) {
        t->runs = (_Atomic uint64_t *)(t->slots + slots);
        return true;
    }
    stack_table_release(t);
    return false;
}

void stack_table_release(struct stack_table *t)
{
    pages_free((void *)t->slots, index_bytes(t->n_slots));
    pages_free(t->arena, t->cap * 8);
    *t = (struct stack_table){0};
}

void stack_table_clear(struct stack_table *t)
{
    /* Gives the pages back; they read as zeros again. */
    madvise((void *)t->slots, index_bytes(t->n_slots), MADV_DONTNEED);
    madvise(t->arena, t->cap * 8, MADV_DONTNEED);
    atomic_store(&t->used, 1);
    atomic_store(&t->refused, 0);
    atomic_store(&t->n, 0);
}

static uint64_t hash_stack(const uint64_t *pcs, size_t n, uint64_t tag)
{
    uint64_t h = tag * 0xff51afd7ed558ccdu + n;

    for (size_t i = 0; i < n; i++)
        h = (h ^ pcs[i]) * 0x9e3779b97f4a7c15u ^ h >> 29;
    return h ^ h >> 32;
}

static bool is_stack(const struct stack_record *r, uint64_t hash,
                     const uint64_t *pcs, size_t n, uint64_t tag)
{
    if (r->hash != hash || r->n != n || r->tag != tag)
        return false;
    for (size_t i = 0; i < n; i++)
        if (r->pcs[i] != pcs[i])
            return false;
    return true;
}

/* A record outside the index; its offset, 0 when the arena is full. */
static uint32_t new_record(struct stack_table *t, uint64_t hash,
                           const uint64_t *pcs, size_t n, uint64_t tag)
{
    uint64_t words = RECORD_WORDS + n;
    uint64_t at;
    struct stack_record *r;

    if (atomic_load_explicit(&t->used, memory_order_relaxed) + words > t->cap)
        return 0;
    at = atomic_fetch_add_explicit(&t->used, words, memory_order_relaxed);
    if (at + words > t->cap || at > UINT32_MAX)
        return 0;
    r = (struct stack_record *)(t->arena + at);
    r->hash = hash;
    r->tag = tag;
    r->n = (uint32_t)n;
    for (size_t i = 0; i < n; i++)
        r->pcs[i] = pcs[i];
    return (uint32_t)at;
}

struct stack_record *stack_table_add(struct stack_table *t, const uint64_t *pcs,
                                     size_t n, uint64_t tag)
{
    uint64_t hash = hash_stack(pcs, n, tag);
    uint32_t mask = t->n_slots - 1, mine = 0, slot = (uint32_t)hash & mask;

    for (uint32_t tries = 0; tries < 64; tries++, slot = (slot + 1) & mask) {
        uint32_t at =
            atomic_load_explicit(&t->slots[slot], memory_order_acquire);
        struct stack_record *r;

        if (at == 0) {
            if (!mine && !(mine = new_record(t, hash, pcs, n, tag)))
                break;
            stack_table_mark_run(t, slot);
            if (atomic_compare_exchange_strong_explicit(
                    &t->slots[slot], &at, mine, memory_order_acq_rel,
                    memory_order_acquire)) {
                atomic_fetch_add_explicit(&t->n, 1, memory_order_relaxed);
                return (struct stack_record *)(t->arena + mine);
            }
        }
        r = (struct stack_record *)(t->arena + at);
        if (is_stack(r, hash, pcs, n, tag))
            return r;
    }
    atomic_fetch_add_explicit(&t->refused, 1, memory_order_relaxed);
    return NULL;
}

struct stack_record *stack_table_find(const struct stack_table *t,
                                      const uint64_t *pcs, size_t n,
                                      uint64_t tag)
{
    uint64_t hash = hash_stack(pcs, n, tag);
    uint32_t mask = t->n_slots - 1, slot = (uint32_t)hash & mask;

    for (uint32_t tries = 0; tries < 64; tries++, slot = (slot + 1) & mask) {
        uint32_t at =
            atomic_load_explicit(&t->slots[slot], memory_order_acquire);
        struct stack_record *r = (struct stack_record *)(t->arena + at);

        if (at == 0)
            return NULL;
        if (is_stack(r, hash, pcs, n, tag))
            return r;
    }
    return NULL;
}

/* The first slot from `slot` on whose run is in use, or n_slots. */
static uint32_t skip_runs(const struct stack_table *t, uint32_t slot)
{
    uint32_t run = slot / STACK_RUN, n_runs = t->n_slots / STACK_RUN;

    while (run < n_runs) {
        uint64_t word = atomic_load_explicit(&t->runs[run / STACK_RUN_WORD],
                                             memory_order_relaxed) >>
                        run % STACK_RUN_WORD;

        if (word & 1)
            break;
        run += word ? (uint32_t)__builtin_ctzll(word)
                    : STACK_RUN_WORD - run % STACK_RUN_WORD;
    }
    if (run >= n_runs)
        return t->n_slots;
    return run == slot / STACK_RUN ? slot : run * STACK_RUN;
}

const struct stack_record *stack_table_next(const struct stack_table *t,
                                            uint32_t *at)
{
    while (*at < t->n_slots) {
        uint32_t off;

        if (*at % STACK_RUN == 0 && (*at = skip_runs(t, *at)) >= t->n_slots)
            break;
        off = atomic_load_explicit(&t->slots[(*at)++], memory_order_acquire);
        if (off)
            return (const struct stack_record *)(t->arena + off);
    }
    return NULL;
}
