#ifndef BASE_I64_H
#define BASE_I64_H

#include <stdint.h>

/*
 * Arithmetic on sample values.  A profile may hold any 64-bit number, so
 * sums wrap like two's complement instead of being undefined, and nothing
 * traps.
 */

static inline int64_t i64_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t i64_sub(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static inline int64_t i64_mul(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

/* The most negative number stays as it is. */
static inline int64_t i64_abs(int64_t v)
{
    return v < 0 ? i64_sub(0, v) : v;
}

/* a / b toward zero; b is not 0. */
static inline int64_t i64_div(int64_t a, int64_t b)
{
    return b == -1 ? i64_sub(0, a) : a / b;
}

#endif
