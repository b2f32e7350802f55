/*
 * The random intervals between samples: bounded, without memory of the
 * program's rhythm, and exact in their sum.
 */
#include "test.h"

#include <math.h>
#include <stdlib.h>

#include "runtime/cpu/intervals.h"

#define PERIOD 1000000

static struct intervals begin(uint64_t seed)
{
    struct intervals v = {.random = intervals_seed(seed, 12345)};

    intervals_begin(&v, intervals_first(&v.random, PERIOD), PERIOD);
    return v;
}

TEST(intervals_are_never_short_and_never_long)
{
    struct intervals v = begin(1);
    int64_t last = v.target_ns;

    for (int i = 0; i < 1000000; i++) {
        EXPECT(intervals_pass(&v, v.target_ns, PERIOD) == 1);
        EXPECT(v.target_ns - last > PERIOD / 8);
        EXPECT(v.target_ns - last < 2 * PERIOD);
        last = v.target_ns;
    }
}

TEST(as_many_as_the_time_is_periods)
{
    for (uint64_t seed = 1; seed < 200; seed++) {
        struct intervals v = begin(seed);
        int64_t n = 0;

        for (int64_t now = 0; now < 1000 * PERIOD; now += PERIOD / 7)
            n += intervals_pass(&v, now, PERIOD);
        EXPECT(llabs((long long)n - 1000) <= 4);
    }
}

/* Also threads that live for less than a period, or a little longer. */
TEST(short_lives_are_right_in_the_mean)
{
    static const double lives[] = {0.1, 0.5, 0.9, 1.3, 2.2};
    const int threads = 200000;

    for (size_t k = 0; k < sizeof(lives) / sizeof(lives[0]); k++) {
        int64_t n = 0;

        for (int i = 0; i < threads; i++) {
            struct intervals v = begin((uint64_t)i * 31 + k + 1);

            n += intervals_pass(&v, (int64_t)(lives[k] * PERIOD), PERIOD);
        }
        EXPECT(fabs((double)n / threads - lives[k]) < 0.01 * lives[k] + 0.003);
    }
}

/* A signal that comes late counts what was missed. */
TEST(a_long_time_without_a_signal_is_counted)
{
    struct intervals v = begin(7);
    int64_t n = intervals_pass(&v, (int64_t)PERIOD * 1000000, PERIOD);

    EXPECT(llabs((long long)n - 1000000) <= 3);
    EXPECT(v.target_ns > (int64_t)PERIOD * 1000000);
}

/* A loop of any simple period: where in it the targets fall must be even.
 * Ten parts of it, each within five standard deviations. */
TEST(targets_fall_in_step_with_no_loop)
{
    static const double periods[] = {1.0 / 3, 0.5, 1, 2, 3, 5};
    const int targets = 100000;

    for (size_t k = 0; k < sizeof(periods) / sizeof(periods[0]); k++) {
        int64_t loop = (int64_t)(periods[k] * PERIOD);
        struct intervals v = begin(k + 1);
        int parts[10] = {0};

        for (int i = 0; i < targets; i++) {
            parts[v.target_ns % loop * 10 / loop]++;
            intervals_pass(&v, v.target_ns, PERIOD);
        }
        for (int i = 0; i < 10; i++)
            EXPECT(fabs(parts[i] - targets / 10.0) <
                   5 * sqrt(targets * 0.1 * 0.9));
    }
}

TEST(no_two_threads_are_alike)
{
    struct intervals a = begin(1000), b = begin(1001);
    int equal = 0;

    for (int i = 0; i < 1000; i++) {
        equal += a.target_ns == b.target_ns;
        intervals_pass(&a, a.target_ns, PERIOD);
        intervals_pass(&b, b.target_ns, PERIOD);
    }
    EXPECT(equal == 0);
}

TEST_MAIN
