#include "test.h"

#include <math.h>

#include "runtime/heap_math.h"

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
