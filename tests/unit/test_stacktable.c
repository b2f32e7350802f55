#include "test.h"

#include <pthread.h>

#include "runtime/unwind/stack_table.h"

#define THREADS 8
#define ROUNDS  20000
#define STACKS  500

static struct stack_table table;

static size_t make_stack(unsigned i, uint64_t *pcs)
{
    size_t n = 1 + i % 40;

    for (size_t k = 0; k < n; k++)
        pcs[k] = 0x1000 + i * 64 + k;
    return n;
}

TEST(equal_stacks_share_a_record)
{
    uint64_t a[] = {1, 2, 3}, b[] = {1, 2, 4};
    struct stack_record *r;

    EXPECT(stack_table_init(&table, 64, 65536));
    r = stack_table_add(&table, a, 3, 0);
    EXPECT(r && r->n == 3 && r->pcs[2] == 3);
    EXPECT(stack_table_add(&table, a, 3, 0) == r);
    EXPECT(stack_table_add(&table, b, 3, 0) != r);
    EXPECT(stack_table_add(&table, a, 2, 0) != r);
    EXPECT(stack_table_add(&table, a, 3, 7) != r);
    EXPECT(table.n == 4);
    stack_table_clear(&table);
    EXPECT(table.n == 0);
    r = stack_table_add(&table, a, 3, 0);
    EXPECT(r && r->values[0] == 0);
    stack_table_release(&table);
}

TEST(a_full_table_refuses_and_counts)
{
    uint64_t pcs[64];
    unsigned added = 0;

    EXPECT(stack_table_init(&table, 64, 1u << 20));
    for (unsigned i = 0; i < 1000; i++)
        added += stack_table_add(&table, pcs, make_stack(i, pcs), 0) != NULL;
    EXPECT(added == 64 && table.refused == 1000 - 64);
    stack_table_release(&table);

    EXPECT(stack_table_init(&table, 4096, 4096));
    added = 0;
    for (unsigned i = 0; i < 1000; i++)
        added += stack_table_add(&table, pcs, make_stack(i, pcs), 0) != NULL;
    EXPECT(added > 5 && added < 60 && table.refused == 1000 - added);
    stack_table_release(&table);
}

/* How many records a walk finds, and the sum of their first values. */
static unsigned walk(const struct stack_table *t, int64_t *sum)
{
    const struct stack_record *r;
    unsigned n = 0;
    uint32_t at = 0;

    *sum = 0;
    while ((r = stack_table_next(t, &at)) != NULL) {
        *sum += r->values[0];
        n++;
    }
    return n;
}

/* Tables with one run of slots, one word of runs, and several words. */
TEST(a_walk_finds_every_record_of_sparse_and_full_tables)
{
    static const uint32_t sizes[] = {32, 2048, 65536};
    static const unsigned counts[] = {0, 1, 2, 7, 33, 3000};

    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 6; k++) {
            unsigned added = 0;
            int64_t sum, wanted = 0;

            EXPECT(stack_table_init(&table, sizes[i], 4u << 20));
            for (unsigned j = 0; j < counts[k]; j++) {
                uint64_t pcs[64];
                struct stack_record *r =
                    stack_table_add(&table, pcs, make_stack(j, pcs), j);

                added += r != NULL;
                wanted += r ? j : 0;
                if (r)
                    stack_record_count(r, 0, j);
            }
            EXPECT(added == table.n && (added == counts[k] || i < 2));
            EXPECT(walk(&table, &sum) == added && sum == wanted);
            stack_table_release(&table);
        }
}

static void *add_all(void *arg)
{
    uint64_t pcs[64];
    unsigned seed = (unsigned)(size_t)arg;

    for (int i = 0; i < ROUNDS; i++) {
        struct stack_record *r;

        seed = seed * 1664525u + 1013904223u;
        r = stack_table_add(&table, pcs, make_stack((seed >> 8) % STACKS, pcs),
                            0);
        if (r)
            stack_record_count(r, 0, 1);
    }
    return NULL;
}

TEST(threads_that_add_at_once_lose_nothing)
{
    pthread_t threads[THREADS];
    const struct stack_record *r;
    int64_t total = 0;
    uint32_t at = 0, n = 0;

    EXPECT(stack_table_init(&table, 4096, 8u << 20));
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, add_all, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    while ((r = stack_table_next(&table, &at)) != NULL) {
        uint64_t pcs[64];
        unsigned which = (unsigned)((r->pcs[0] - 0x1000) / 64);

        EXPECT(make_stack(which, pcs) == r->n);
        EXPECT(memcmp(pcs, r->pcs, r->n * sizeof(pcs[0])) == 0);
        total += r->values[0];
        n++;
    }
    EXPECT(n == STACKS && table.n == STACKS && table.refused == 0);
    EXPECT(total == (int64_t)THREADS * ROUNDS);
    stack_table_release(&table);
}

TEST_MAIN
