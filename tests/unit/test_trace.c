/*
 * Samples in time as trace events: made-up ticks, and what they must become.
 */
#include "test.h"

#include <unistd.h>

#include "runtime/cpu/trace.h"
#include "runtime/state.h"

#define PERIOD 10000000 /* 10 ms */

static struct stack_table table;
static struct buf out;
static struct error err;

static struct tick tick(int ms, uint32_t tid, uint32_t cpu, uint32_t weight)
{
    uint64_t pcs[] = {0x1234};
    struct stack_record *r = stack_table_add(&table, pcs, 1, 0);

    return (struct tick){(int64_t)ms * 1000000, tid, cpu,
                         (uint32_t)((uint64_t *)r - table.arena), weight};
}

static void start(void)
{
    EXPECT(runtime_ready(&err));
    EXPECT(stack_table_init(&table, 64, 1 << 16));
    buf_release(&out);
    out = BUF_INIT(1 << 20);
}

static struct str make_trace(struct tick *v, size_t n)
{
    EXPECT(trace_write(v, n, &table, PERIOD, &out, &err));
    stack_table_release(&table);
    return buf_str(&out);
}

static bool has_run(struct str trace, unsigned tid, const char *start_us,
                    const char *length_us)
{
    char want[256];

    snprintf(want, sizeof(want),
             "{\"name\":\"running\",\"ph\":\"X\",\"pid\":%d,\"tid\":%u,\"ts\":"
             "%s,\"dur\":%s,",
             (int)getpid(), tid, start_us, length_us);
    return str_contains(trace, str_from(want));
}

static size_t count(struct str text, const char *word)
{
    size_t n = 0, len = strlen(word);

    for (size_t i = 0; i + len <= text.n; i++)
        n += memcmp(text.s + i, word, len) == 0;
    return n;
}

TEST(samples_without_a_pause_are_one_run)
{
    struct tick v[3];
    struct str t;

    start();
    for (int i = 0; i < 3; i++)
        v[i] = tick(100 + 10 * i, 7, 1, 1);
    t = make_trace(v, 3);
    EXPECT(has_run(t, 7, "90000.000", "30000.000"));
    EXPECT(count(t, "\"ph\":\"X\"") == 1 && count(t, "\"ph\":\"i\"") == 3);
    EXPECT(str_contains(t, STR("\"stack\":[\"0x1234\"]")));
}

TEST(a_pause_ends_a_run)
{
    struct tick v[4];
    struct str t;

    start();
    v[0] = tick(100, 7, 1, 1);
    v[1] = tick(110, 7, 1, 1);
    v[2] = tick(160, 7, 1, 1); /* slept for 40 ms */
    v[3] = tick(170, 7, 1, 1);
    t = make_trace(v, 4);
    EXPECT(has_run(t, 7, "90000.000", "20000.000"));
    EXPECT(has_run(t, 7, "150000.000", "20000.000"));
    EXPECT(count(t, "\"ph\":\"X\"") == 2);
}

TEST(a_sample_that_weighs_more_was_running_longer)
{
    struct tick v[2];
    struct str t;

    start();
    v[0] = tick(100, 7, 1, 1);
    v[1] = tick(150, 7, 1, 5);
    t = make_trace(v, 2);
    EXPECT(has_run(t, 7, "90000.000", "60000.000"));
}

TEST(another_cpu_is_another_run_that_does_not_overlap)
{
    struct tick v[2];
    struct str t;

    start();
    v[0] = tick(100, 7, 1, 1);
    v[1] = tick(104, 7, 2, 1);
    t = make_trace(v, 2);
    EXPECT(has_run(t, 7, "90000.000", "10000.000"));
    EXPECT(has_run(t, 7, "100000.000", "4000.000"));
}

TEST(threads_are_apart_and_each_has_a_name)
{
    struct tick v[3];
    struct str t;

    start();
    v[0] = tick(110, (uint32_t)getpid(), 1, 1);
    v[1] = tick(105, 999999999, 1, 1);
    v[2] = tick(100, (uint32_t)getpid(), 1, 1);
    t = make_trace(v, 3);
    EXPECT(has_run(t, (unsigned)getpid(), "90000.000", "20000.000"));
    EXPECT(has_run(t, 999999999, "95000.000", "10000.000"));
    EXPECT(count(t, "\"name\":\"thread_name\",\"ph\":\"M\"") == 2);
    EXPECT(str_contains(t, STR("{\"name\":\"test-trace\"}")));
    EXPECT(str_contains(t, STR("{\"name\":\"[ended]\"}")));
}

TEST(a_run_cannot_begin_before_the_clock)
{
    struct tick v[1];

    start();
    v[0] = tick(4, 7, 1, 1);
    EXPECT(has_run(make_trace(v, 1), 7, "0.000", "4000.000"));
}

TEST(nothing_is_a_trace_too)
{
    struct str t;

    start();
    t = make_trace(NULL, 0);
    EXPECT(str_contains(t, STR("\"traceEvents\":[]}")));
}

TEST(a_trace_without_room_is_an_error)
{
    struct tick v[1];

    start();
    v[0] = tick(100, 7, 1, 1);
    buf_release(&out);
    out = BUF_INIT(100);
    EXPECT(!trace_write(v, 1, &table, PERIOD, &out, &err));
    EXPECT_STR(str_from(err.text), "the trace is too big");
    stack_table_release(&table);
}

TEST_MAIN
