#include "test.h"

#include <pthread.h>
#include <stdlib.h>

#include "runtime/heap/heap_live.h"

static struct heap_live table;

static bool add(uint64_t address, uint32_t site)
{
    return heap_live_add(&table, &(struct live_block){address, site, 7});
}

static bool remove_it(uint64_t address, uint32_t site)
{
    struct live_block b;

    return heap_live_remove(&table, address, &b) && b.address == address &&
           b.site == site && b.born == 7;
}

static uint64_t nth(uint64_t i)
{
    return 0x7f0000000000u + i * 4096;
}

TEST(a_block_is_found_once)
{
    EXPECT(!remove_it(4096, 1));
    EXPECT(add(4096, 1) && add(8192, 2));
    EXPECT(table.n == 2);
    EXPECT(remove_it(4096, 1) && !remove_it(4096, 1));
    EXPECT(remove_it(8192, 2) && table.n == 0);
    heap_live_release(&table);
}

TEST(no_block_is_at_null)
{
    struct live_block b;

    EXPECT(add(4096, 1) && remove_it(4096, 1));
    EXPECT(!heap_live_remove(&table, 0, &b) && !heap_live_find(&table, 0, &b));
    EXPECT(table.n == 0);
    heap_live_release(&table);
}

TEST(it_grows_level_by_level)
{
    enum { N = 300000 };

    for (uint32_t i = 0; i < N; i++)
        EXPECT(add(nth(i), i));
    EXPECT(table.n == N && table.refused == 0);
    EXPECT(table.levels[2] && !table.levels[4]);
    for (uint32_t i = 0; i < N; i += 2)
        EXPECT(remove_it(nth(i), i));
    for (uint32_t i = 0; i < N; i++)
        EXPECT(remove_it(nth(i), i) == (i % 2 == 1));
    EXPECT(table.n == 0);
    heap_live_release(&table);
}

/* Nobody passes a bucket any more when all blocks are gone. */
static uint64_t count_passed(void)
{
    uint64_t n = 0;

    for (unsigned level = 0; level < LIVE_LEVELS; level++) {
        struct live_bucket *v = table.levels[level];

        for (size_t i = 0; v && i < (size_t)2048 << (2 * level); i++)
            n += v[i].passed;
    }
    return n;
}

TEST(removing_leaves_no_trace)
{
    enum { LIVE = 20000, ROUNDS = 1000000 };
    uint64_t *blocks = malloc(LIVE * sizeof(*blocks)), next = LIVE;

    for (uint32_t i = 0; i < LIVE; i++)
        EXPECT(add(blocks[i] = nth(i), 1));
    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint32_t k = (uint32_t)(i * 2654435761u) % LIVE;

        EXPECT(remove_it(blocks[k], 1));
        EXPECT(add(blocks[k] = nth(next++), 1));
    }
    EXPECT(table.n == LIVE && !table.levels[3]);
    for (uint32_t i = 0; i < LIVE; i++)
        EXPECT(remove_it(blocks[i], 1));
    EXPECT(count_passed() == 0);
    free(blocks);
    heap_live_release(&table);
}

static void sum_up(void *ctx, const struct live_block *block)
{
    *(uint64_t *)ctx += block->site;
}

TEST(each_visits_every_block)
{
    uint64_t sum = 0;

    for (uint32_t i = 1; i <= 30000; i++)
        add(nth(i), i);
    heap_live_each(&table, sum_up, &sum);
    EXPECT(sum == 30000ull * 30001 / 2);
    heap_live_release(&table);
}

#define THREADS 6

/* Each has blocks of its own, as every program's threads do. */
static void *hammer(void *arg)
{
    uint64_t mine = (uint64_t)(uintptr_t)arg, wrong = 0;

    for (unsigned round = 0; round < 20; round++) {
        for (uint64_t i = 0; i < 3000; i++)
            wrong += !add(nth(i * THREADS + mine), (uint32_t)i);
        for (uint64_t i = 0; i < 3000; i++)
            wrong += !remove_it(nth(i * THREADS + mine), (uint32_t)i);
    }
    return (void *)(uintptr_t)wrong;
}

TEST(threads_do_not_disturb_each_other)
{
    pthread_t threads[THREADS];
    void *wrong;

    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, hammer, (void *)i);
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &wrong);
        EXPECT(wrong == NULL);
    }
    EXPECT(table.n == 0 && table.refused == 0 && count_passed() == 0);
    heap_live_release(&table);
}

TEST_MAIN
