#include "test.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "runtime/heap/heap.h"
#include "runtime/heap/heap_math.h"
#include "runtime/heap/heap_profile.h"
#include "runtime/cpu/sigprof.h"
#include "runtime/thread/thread_labels.h"

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

/* The four sums and the rate of the text, which readers halve. */
TEST(the_text_has_the_sums_of_both_pairs_and_twice_the_rate)
{
    struct buf text = BUF_INIT(8u << 20);
    struct snapshot s;
    struct error err;
    int64_t v[4];
    char want[128];

    EXPECT(begin(1));
    for (uintptr_t i = 0; i < 10; i++)
        take(0x20000 + i * 4096, 1000);
    for (uintptr_t i = 0; i < 4; i++)
        EXPECT(give(0x20000 + i * 4096));
    EXPECT(heap_take(&s, false, &err));
    EXPECT(heap_write_text(&s, &text, &err));
    for (unsigned k = 0; k < 4; k++)
        v[k] = 0;
    for (uint32_t at = 0;;) {
        const struct stack_record *r = stack_table_next(&s.table, &at);

        if (!r)
            break;
        for (unsigned k = 0; k < 4; k++)
            v[k] += atomic_load(&r->values[k]);
    }
    snprintf(want, sizeof(want),
             "heap profile: %lld: %lld [%lld: %lld] @ heap/2\n",
             (long long)v[HEAP_INUSE_OBJECTS], (long long)v[HEAP_INUSE_SPACE],
             (long long)v[HEAP_ALLOC_OBJECTS], (long long)v[HEAP_ALLOC_SPACE]);
    EXPECT(str_has_prefix(buf_str(&text), str_from(want)));
    EXPECT(str_contains(buf_str(&text), STR("\n6: 6000 [10: 10000] @ 0x")));
    for (uintptr_t i = 4; i < 10; i++)
        EXPECT(give(0x20000 + i * 4096));
    buf_release(&text);
    snapshot_release(&s);
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

/* One value of the profile of a run, over all blocks with a size. */
static int64_t peak(uint64_t size)
{
    const struct stack_record *r;
    struct snapshot s;
    struct error err;
    uint32_t at = 0;
    int64_t n = 0;

    if (!heap_take_run(&s, &err))
        return -1;
    while ((r = stack_table_next(&s.table, &at)) != NULL)
        if (r->tag == size)
            n += atomic_load(&r->values[HEAP_PEAK_OBJECTS]);
    snapshot_release(&s);
    return n;
}

TEST(the_peak_is_kept_when_blocks_are_freed)
{
    int64_t before = atomic_load(&heap.peak.in_use);
    uintptr_t first = 0x70000000;

    EXPECT(begin(1));
    atomic_store(&heap.peak.bytes, 0); /* that of other tests */
    for (uintptr_t i = 0; i < 100; i++)
        take(first + i * 64, 1 << 20);
    EXPECT(atomic_load(&heap.peak.in_use) == before + (100 << 20));
    for (uintptr_t i = 0; i < 100; i++)
        EXPECT(give(first + i * 64));
    EXPECT(atomic_load(&heap.peak.in_use) == before);
    EXPECT(peak(1 << 20) == 100);

    /* Less than before: the old peak stays. */
    for (uintptr_t i = 0; i < 50; i++)
        take(first + i * 64, 1 << 20);
    for (uintptr_t i = 0; i < 50; i++)
        EXPECT(give(first + i * 64));
    EXPECT(peak(1 << 20) == 100);

    /* Within one per cent: not worth a copy before it is asked for. */
    for (uintptr_t i = 0; i < 120; i++)
        take(first + i * 64, 1 << 20);
    EXPECT(peak(1 << 20) == 120);
    for (uintptr_t i = 0; i < 120; i++)
        EXPECT(give(first + i * 64));
}

TEST(a_copy_that_somebody_else_makes_is_not_waited_for)
{
    EXPECT(begin(1));
    atomic_store(&heap.peak.is_copying, true);
    take(0x80000000, (size_t)1 << 33);
    EXPECT(give(0x80000000));
    EXPECT(peak((uint64_t)1 << 33) == 0);
    heap_peak_after_fork(&heap.peak);
    take(0x80000000, (size_t)1 << 33);
    EXPECT(give(0x80000000));
    EXPECT(peak((uint64_t)1 << 33) == 1);
}

TEST(labels_are_dropped_before_stacks_are)
{
    uint64_t unlabelled = atomic_load(&heap.unlabelled), cap;

    EXPECT(begin(1));
    cap = heap.sites.cap;
    pprof_thread.labels = 7;
    take(0x90000010, 76);
    EXPECT(sum(HEAP_ALLOC_OBJECTS, size_tag_pack(76, 7)) == 1);
    heap.sites.cap = 2 * atomic_load(&heap.sites.used);
    take(0x90000050, 76);
    EXPECT(sum(HEAP_ALLOC_OBJECTS, 76) == 1);
    EXPECT(atomic_load(&heap.unlabelled) == unlabelled + 1);
    pprof_thread.labels = 0;
    heap.sites.cap = cap;
    EXPECT(give(0x90000010) && give(0x90000050));
}

/* Last: there is no way back. */
TEST(what_finds_no_room_is_counted_without_its_stack)
{
    uint64_t no_room = atomic_load(&heap.no_room);
    uint64_t frames[SITE_FRAMES] = {99};

    EXPECT(begin(1));
    for (uint64_t tag = 0; tag < 1200000; tag++)
        stack_table_add(&heap.sites, frames, SITE_FRAMES, tag);
    for (uintptr_t i = 0; i < 500; i++)
        take(0x60000010 + i * 64, 100000 + i);
    EXPECT(atomic_load(&heap.no_room) > no_room + 400);
    EXPECT(atomic_load(&heap.lost) == 0);
    for (uintptr_t i = 0; i < 500; i++)
        EXPECT(give(0x60000010 + i * 64));
}

TEST_MAIN
