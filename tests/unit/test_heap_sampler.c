#include "test.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "runtime/heap.h"
#include "runtime/heap_math.h"
#include "runtime/heap_profile.h"

#define THREADS 4
#define ROUNDS  20000

/* What the hooks do, but for addresses that nobody has. */
__attribute__((noinline)) static void take(uintptr_t p, size_t size)
{
    uint32_t rate = heap_count(size) ? heap_due(size) : 0;

    if (rate)
        heap_enter((void *)p, size, rate, __builtin_return_address(0));
}

static bool give(uintptr_t p)
{
    struct live_block block;

    return heap_may_know((void *)p) && heap_leave((void *)p, &block);
}

static bool begin(uint64_t rate)
{
    struct error err;

    atomic_store(&heap.has_hooks, true);
    return heap_set_rate(rate, &err);
}

/* The sum of one value over all samples of blocks with a size. */
static int64_t sum(unsigned value, uint64_t size)
{
    const struct stack_record *r;
    struct snapshot s;
    struct error err;
    uint32_t at = 0;
    int64_t n = 0;

    if (!heap_take(&s, false, &err))
        return -1;
    while ((r = stack_table_next(&s.table, &at)) != NULL)
        if (r->tag == size)
            n += atomic_load(&r->values[value]);
    snapshot_release(&s);
    return n;
}

TEST(rate_1_counts_every_block)
{
    EXPECT(begin(1));
    for (uintptr_t i = 0; i < 100; i++)
        take(0x10000 + i * 64, 24);
    take(0x900000, 0);
    EXPECT(sum(HEAP_ALLOC_OBJECTS, 24) == 100);
    EXPECT(sum(HEAP_INUSE_SPACE, 24) == 2400);
    EXPECT(sum(HEAP_ALLOC_OBJECTS, 0) == 1);
    for (uintptr_t i = 0; i < 100; i++)
        EXPECT(give(0x10000 + i * 64));
    EXPECT(!give(0x10000));
    EXPECT(give(0x900000));
    EXPECT(sum(HEAP_ALLOC_OBJECTS, 24) == 100);
    EXPECT(sum(HEAP_INUSE_OBJECTS, 24) == 0);
    EXPECT(atomic_load(&heap.unaligned) == 0);
}

TEST(a_block_that_was_not_freed_after_all_is_in_use)
{
    struct live_block block;

    EXPECT(begin(1));
    take(0x20010, 32);
    EXPECT(heap_leave((void *)0x20010, &block));
    EXPECT(sum(HEAP_INUSE_OBJECTS, 32) == 0);
    heap_reenter(&block);
    EXPECT(sum(HEAP_INUSE_OBJECTS, 32) == 1);
    EXPECT(give(0x20010));
}

TEST(an_address_that_comes_again_was_freed_behind_our_back)
{
    EXPECT(begin(1));
    take(0x30010, 40);
    take(0x30010, 40);
    EXPECT(sum(HEAP_ALLOC_OBJECTS, 40) == 2);
    EXPECT(sum(HEAP_INUSE_OBJECTS, 40) == 1);
    EXPECT(give(0x30010) && !give(0x30010));
}

TEST(what_a_handler_allocates_meanwhile_is_dropped_and_counted)
{
    uint64_t nested = atomic_load(&heap.nested);

    EXPECT(begin(1));
    heap_thread.busy |= HEAP_BUSY_SAMPLE;
    take(0x40010, 48);
    heap_thread.busy &= ~(uint32_t)HEAP_BUSY_SAMPLE;
    EXPECT(atomic_load(&heap.nested) == nested + 1);
    EXPECT(!give(0x40010));
}

TEST(threads_of_ours_and_rate_0_are_left_out)
{
    EXPECT(begin(1));
    heap_thread.busy |= HEAP_BUSY_OWN;
    take(0x50010, 56);
    heap_thread.busy &= ~(uint32_t)HEAP_BUSY_OWN;
    EXPECT(!give(0x50010));
    EXPECT(begin(0));
    for (int i = 0; i < 100; i++)
        take(0x50010, 1 << 20);
    EXPECT(!give(0x50010));
    EXPECT(heap_switched_off() != NULL);
}

/* A block's weight is that of the rate at which it was sampled. */
TEST(rates_may_change)
{
    static const uint64_t rates[] = {512, 4096, 512, 100000};
    double p, spread = 0;
    int64_t got;

    for (size_t k = 0; k < 4; k++) {
        EXPECT(begin(rates[k]));
        for (uintptr_t i = 0; i < 50000; i++)
            take(0x1000010 + (k * 50000 + i) * 1024, 640);
        p = heap_probability(640, rates[k]);
        spread += 50000 * (1 - p) / p;
    }
    got = sum(HEAP_ALLOC_OBJECTS, 640);
    EXPECT(fabs((double)got - 200000) < 6 * sqrt(spread) + 4);
    for (uintptr_t i = 0; i < 200000; i++)
        give(0x1000010 + i * 1024);
    EXPECT(sum(HEAP_INUSE_OBJECTS, 640) == 0);
}

static atomic_bool stop;

static void *reader(void *arg)
{
    int64_t last = 0;

    while (!atomic_load(&stop)) {
        int64_t all = sum(HEAP_ALLOC_OBJECTS, 72);
        int64_t live = sum(HEAP_INUSE_OBJECTS, 72);

        if (all < last || live < 0)
            return arg; /* totals never fall */
        last = all;
    }
    return NULL;
}

static void *writer(void *arg)
{
    uintptr_t base = 0x40000000 + (uintptr_t)arg * 0x10000000;

    for (uintptr_t i = 0; i < ROUNDS; i++) {
        take(base + i % 1000 * 4096 + i % 2 * 16, 72);
        if (i % 1000 == 999)
            for (uintptr_t k = i - 999; k <= i; k++)
                give(base + k % 1000 * 4096 + k % 2 * 16);
    }
    return NULL;
}

TEST(threads_count_together_and_may_be_read_meanwhile)
{
    pthread_t threads[THREADS], watcher;
    int64_t before = sum(HEAP_ALLOC_OBJECTS, 72);
    void *wrong;

    EXPECT(begin(1));
    atomic_store(&stop, false);
    pthread_create(&watcher, NULL, reader, (void *)1);
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, writer, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    atomic_store(&stop, true);
    pthread_join(watcher, &wrong);
    EXPECT(wrong == NULL);
    EXPECT(sum(HEAP_ALLOC_OBJECTS, 72) - before == THREADS * ROUNDS);
    EXPECT(sum(HEAP_INUSE_OBJECTS, 72) == 0);
    EXPECT(atomic_load(&heap.live.n) == 0);
    EXPECT(atomic_load(&heap.unaligned) == 0);
}

/* Last: there is no way back. */
TEST(what_finds_no_room_is_counted_without_its_stack)
{
    uint64_t no_room = atomic_load(&heap.no_room), pc = 99;

    EXPECT(begin(1));
    for (uint64_t tag = 0; tag < 1200000; tag++)
        stack_table_add(&heap.sites, &pc, 1, tag);
    for (uintptr_t i = 0; i < 500; i++)
        take(0x60000010 + i * 64, 100000 + i);
    EXPECT(atomic_load(&heap.no_room) > no_room + 400);
    EXPECT(atomic_load(&heap.lost) == 0);
    for (uintptr_t i = 0; i < 500; i++)
        EXPECT(give(0x60000010 + i * 64));
}

TEST_MAIN
