#include "test.h"

#include "runtime/unwind/table_readers.h"

#define SLOTS 1024u
#define BYTES (256u << 10)

enum { A, B };

static struct table_readers readers;

static void sample(uint64_t pc, int64_t n)
{
    struct stack_record *r =
        stack_table_add(table_readers_live(&readers), &pc, 1, 0);

    EXPECT(r != NULL);
    if (r)
        stack_record_count(r, 0, n);
}

static int64_t value(const struct stack_table *t, uint64_t pc)
{
    const struct stack_record *r = stack_table_find(t, &pc, 1, 0);

    return r ? atomic_load(&r->values[0]) : 0;
}

static int64_t total(const struct stack_table *t)
{
    const struct stack_record *r;
    int64_t sum = 0;
    uint32_t at = 0;

    while ((r = stack_table_next(t, &at)) != NULL)
        sum += atomic_load(&r->values[0]);
    return sum;
}

TEST(each_reader_has_what_came_between_its_start_and_its_end)
{
    struct stack_table a, b;

    EXPECT(table_readers_begin(&readers, SLOTS, BYTES));
    EXPECT(table_readers_join(&readers, A));
    sample(1, 10);
    EXPECT(table_readers_join(&readers, B));
    sample(1, 5);
    sample(2, 7);
    EXPECT(table_readers_leave(&readers, A, &a));
    EXPECT(value(&a, 1) == 15 && value(&a, 2) == 7 && total(&a) == 22);
    sample(2, 100);
    EXPECT(table_readers_any(&readers));
    EXPECT(table_readers_leave(&readers, B, &b));
    EXPECT(value(&b, 1) == 5 && value(&b, 2) == 107 && total(&b) == 112);
    EXPECT(!table_readers_any(&readers));
    EXPECT(table_readers_live(&readers)->slots == NULL);
    stack_table_release(&a);
    stack_table_release(&b);
}

TEST(slices_follow_each_other_without_a_gap)
{
    struct stack_table slice;
    int64_t sum = 0;

    EXPECT(table_readers_begin(&readers, SLOTS, BYTES));
    EXPECT(table_readers_join(&readers, B));
    for (int i = 1; i <= 5; i++) {
        sample(1, i);
        sample((uint64_t)i + 1, 1);
        EXPECT(table_readers_slice(&readers, B, &slice));
        EXPECT(value(&slice, 1) == i && total(&slice) == i + 1);
        sum += total(&slice);
        stack_table_release(&slice);
    }
    EXPECT(table_readers_leave(&readers, B, &slice));
    EXPECT(total(&slice) == 0 && sum == 20);
    stack_table_release(&slice);
}

/* A reader that stays while others come and go sees everything, although the
 * live table holds only a part of it. */
TEST(a_large_table_is_replaced_and_nothing_is_lost)
{
    struct stack_table a, b;
    unsigned turns = 0;

    EXPECT(table_readers_begin(&readers, SLOTS, BYTES));
    EXPECT(table_readers_join(&readers, A));
    EXPECT(table_readers_next(&readers) == NULL);
    for (unsigned round = 0; round < 8; round++) {
        EXPECT(table_readers_join(&readers, B));
        for (unsigned i = 0; i < 100; i++)
            sample(1000 * round + i + 1, 1);
        sample(77777, 1);
        EXPECT(table_readers_leave(&readers, B, &b));
        EXPECT(total(&b) == 101 && value(&b, 77777) == 1);
        stack_table_release(&b);
        if (table_readers_next(&readers)) {
            table_readers_turn(&readers);
            turns++;
        }
    }
    EXPECT(turns > 0);
    EXPECT(table_readers_live(&readers)->n < 808);
    EXPECT(table_readers_leave(&readers, A, &a));
    EXPECT(total(&a) == 808 && value(&a, 77777) == 8 && value(&a, 1) == 1);
    EXPECT(a.refused == 0);
    stack_table_release(&a);
}

TEST_MAIN
