#ifndef RUNTIME_HEAP_HEAP_MATH_H
#define RUNTIME_HEAP_HEAP_MATH_H

#include <stdint.h>

/*
 * The mathematics of sampling by bytes.
 *
 * Points are thrown on the line of all bytes that a thread allocates, at
 * distances with the exponential distribution of mean R.  A block of S bytes
 * is sampled when at least one falls into it, which happens with probability
 *
 *     p = 1 - exp(-S/R)
 *
 * so 1/p blocks and S/p bytes stand for it.  The distribution has no memory:
 * after a sample, in a new thread or when the rate changes, a fresh distance
 * is as good as the rest of the old one.
 *
 * Without libm, which not every program has loaded, and which a malloc hook
 * must not drag in.
 */

/* The next number of a generator (xorshift64*); *state must not be 0. */
static inline uint64_t heap_random(uint64_t *state)
{
    uint64_t x = *state;

    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * 0x2545f4914f6cdd1du;
}

/* A distance in bytes; 0 for rate 1 and less: the very next block. */
int64_t heap_distance(uint64_t rate, uint64_t *state);

/* The probability p of a block of `size` bytes. */
double heap_probability(uint64_t size, uint64_t rate);

#endif
