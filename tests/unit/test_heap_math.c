#include "test.h"

#include <math.h>

#include "runtime/heap/heap_math.h"

TEST(the_probability_is_that_of_the_library)
{
    for (uint64_t rate = 2; rate < (1u << 24); rate = rate * 5 / 2) {
        for (uint64_t size = 1; size < (1ull << 40); size = size * 3 / 2 + 1) {
            double want = -expm1(-(double)size / (double)rate);

            EXPECT(fabs(heap_probability(size, rate) - want) <= want * 1e-13);
        }
    }
    EXPECT(heap_probability(0, 512) == 0);
    EXPECT(heap_probability(0, 1) == 1 && heap_probability(7, 1) == 1);
}

/* Mean and spread of an exponential distribution are both the rate: the mean
 * of n draws is within 5 standard errors, 5/sqrt(n). */
TEST(distances_are_exponential)
{
    enum { N = 200000 };
    static const double quantiles[] = {0.01, 0.1, 0.5, 0.9, 0.99};
    unsigned below[5] = {0};
    uint64_t rate = 524288, seed = 12345;
    double sum = 0, squares = 0;

    for (int i = 0; i < N; i++) {
        double d = (double)heap_distance(rate, &seed) / (double)rate;

        EXPECT(d > 0);
        sum += d;
        squares += d * d;
        for (int k = 0; k < 5; k++)
            below[k] += d <= -log1p(-quantiles[k]);
    }
    EXPECT(fabs(sum / N - 1) < 5 / sqrt(N));
    EXPECT(fabs(squares / N - 2) < 5 * sqrt(20.0 / N));
    for (int k = 0; k < 5; k++) {
        double q = quantiles[k];

        EXPECT(fabs(below[k] / (double)N - q) < 5 * sqrt(q * (1 - q) / N));
    }
}

/* Each distance, not only their mean: libm is the oracle. */
TEST(a_distance_is_the_logarithm_of_its_random_number)
{
    uint64_t rate = (uint64_t)1 << 40, seed = 99;

    for (int i = 0; i < 10000; i++) {
        uint64_t same = seed;
        double u = ((double)(heap_random(&same) >> 11) + 1) * 0x1p-53;
        double want = -log(u) * (double)rate;

        EXPECT(fabs((double)heap_distance(rate, &seed) - want) <
               2 + want * 1e-9);
    }
}

TEST(a_distance_that_is_too_big_for_a_number_is_cut)
{
    uint64_t seed = 5;

    for (int i = 0; i < 1000; i++) {
        int64_t d = heap_distance(UINT64_MAX, &seed);

        EXPECT(d > 0 && d <= (int64_t)1 << 62);
    }
}

TEST(rate_one_takes_the_next_block)
{
    uint64_t seed = 1;

    EXPECT(heap_distance(1, &seed) == 0 && heap_distance(1, &seed) == 0);
}

/* A block of one byte is hit by a distance of one byte. */
TEST(small_blocks_are_hit_as_often_as_the_formula_says)
{
    enum { N = 400000 };
    uint64_t seed = 99;
    unsigned hit = 0;
    double p = heap_probability(1, 16);

    for (int i = 0; i < N; i++)
        hit += heap_distance(16, &seed) <= 1;
    EXPECT(fabs(hit / (double)N - p) < 5 * sqrt(p * (1 - p) / N));
}

TEST_MAIN
