/*
 * SIGNAL CONTEXT: everything but heap_live_each and heap_live_release may be
 * called where malloc and free are; see the contract in unwind.c.
 */
#include "runtime/heap/heap_live.h"

#include <assert.h>

#include "base/pages.h"

#define FREE    0
#define FILLING 1

static size_t level_buckets(unsigned level)
{
    return (size_t)2048 << (2 * level);
}

size_t heap_live_level_bytes(unsigned level)
{
    return level_buckets(level) * sizeof(struct live_bucket);
}

static struct live_bucket *level_get(const struct heap_live *t, unsigned level)
{
    return atomic_load_explicit(&t->levels[level], memory_order_acquire);
}

/* Allocates the level's memory unless another thread has done so. */
static struct live_bucket *level_make(struct heap_live *t, unsigned level)
{
    struct live_bucket *old = level_get(t, level), *fresh;

    if (old)
        return old;
    fresh = pages_alloc(heap_live_level_bytes(level));
    if (!fresh ||
        atomic_compare_exchange_strong(&t->levels[level], &old, fresh))
        return fresh;
    pages_free(fresh, heap_live_level_bytes(level));
    return old;
}

/* Sampled blocks are mostly aligned to pages: low bits say nothing, so the
 * upper half of a product decides. */
static struct live_bucket *bucket_of(struct live_bucket *level, unsigned depth,
                                     uint64_t address)
{
    uint64_t h = (address ^ address >> 12) * 0x9e3779b97f4a7c15u;

    return &level[h >> 32 & (level_buckets(depth) - 1)];
}

static bool bucket_add(struct live_bucket *b, const struct live_block *block)
{
    for (unsigned i = 0; i < LIVE_SLOTS; i++) {
        struct live_slot *s = &b->slots[i];
        uint64_t was = FREE;

        if (atomic_load_explicit(&s->address, memory_order_relaxed) != FREE ||
            !atomic_compare_exchange_strong(&s->address, &was, FILLING))
            continue;
        atomic_store_explicit(&s->data,
                              block->site | (uint64_t)block->born << 32,
                              memory_order_relaxed);
        atomic_store_explicit(&s->address, block->address,
                              memory_order_release);
        return true;
    }
    return false;
}

/* One block less has passed the buckets above this level. */
static void unpass(struct heap_live *t, unsigned level, uint64_t address)
{
    while (level-- > 0)
        atomic_fetch_sub_explicit(
            &bucket_of(level_get(t, level), level, address)->passed, 1,
            memory_order_relaxed);
}

bool heap_live_add(struct heap_live *t, const struct live_block *block)
{
    unsigned level;

    assert(block->address > FILLING);
    for (level = 0; level < LIVE_LEVELS; level++) {
        struct live_bucket *v = level_make(t, level), *b;

        if (!v)
            break;
        b = bucket_of(v, level, block->address);
        if (bucket_add(b, block)) {
            atomic_fetch_add_explicit(&t->n, 1, memory_order_relaxed);
            return true;
        }
        atomic_fetch_add_explicit(&b->passed, 1, memory_order_relaxed);
    }
    unpass(t, level, block->address);
    atomic_fetch_add_explicit(&t->refused, 1, memory_order_relaxed);
    return false;
}

static struct live_slot *bucket_find(struct live_bucket *b, uint64_t address)
{
    for (unsigned i = 0; i < LIVE_SLOTS; i++)
        if (atomic_load_explicit(&b->slots[i].address, memory_order_acquire) ==
            address)
            return &b->slots[i];
    return NULL;
}

static struct live_block block_of(const struct live_slot *s, uint64_t address)
{
    uint64_t data = atomic_load_explicit(&s->data, memory_order_relaxed);

    return (struct live_block){address, (uint32_t)data, (uint32_t)(data >> 32)};
}

/* The slot of an address and its level, NULL: it is not there.  free(NULL)
 * comes here, too, and must not meet a slot that is free. */
static struct live_slot *find(const struct heap_live *t, uint64_t address,
                              unsigned *level)
{
    if (address <= FILLING)
        return NULL;
    for (*level = 0; *level < LIVE_LEVELS; ++*level) {
        struct live_bucket *v = level_get(t, *level), *b;
        struct live_slot *s;

        if (!v)
            return NULL;
        b = bucket_of(v, *level, address);
        s = bucket_find(b, address);
        if (s)
            return s;
        if (atomic_load_explicit(&b->passed, memory_order_relaxed) == 0)
            return NULL;
    }
    return NULL;
}

bool heap_live_remove(struct heap_live *t, uint64_t address,
                      struct live_block *out)
{
    unsigned level;
    struct live_slot *s = find(t, address, &level);

    if (!s)
        return false;
    *out = block_of(s, address);
    atomic_store_explicit(&s->address, FREE, memory_order_release);
    unpass(t, level, address);
    atomic_fetch_sub_explicit(&t->n, 1, memory_order_relaxed);
    return true;
}

bool heap_live_find(const struct heap_live *t, uint64_t address,
                    struct live_block *out)
{
    unsigned level;
    const struct live_slot *s = find(t, address, &level);

    if (s)
        *out = block_of(s, address);
    return s != NULL;
}

void heap_live_each(const struct heap_live *t,
                    void (*each)(void *ctx, const struct live_block *block),
                    void *ctx)
{
    for (unsigned level = 0; level < LIVE_LEVELS; level++) {
        const struct live_bucket *v = level_get(t, level);

        for (size_t i = 0; v && i < level_buckets(level); i++) {
            for (unsigned k = 0; k < LIVE_SLOTS; k++) {
                const struct live_slot *s = &v[i].slots[k];
                uint64_t address =
                    atomic_load_explicit(&s->address, memory_order_acquire);
                struct live_block b;

                if (address <= FILLING)
                    continue;
                b = block_of(s, address);
                each(ctx, &b);
            }
        }
    }
}

void heap_live_release(struct heap_live *t)
{
    for (unsigned level = 0; level < LIVE_LEVELS; level++)
        pages_free(level_get(t, level), heap_live_level_bytes(level));
    *t = (struct heap_live){.n = 0};
}
