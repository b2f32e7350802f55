/*
 * Logarithm and exponential by series, to full precision for the ranges that
 * sampling needs; libm cannot be used in a malloc hook (see the header).
 */
#include "runtime/heap/heap_math.h"

#include <string.h>

#define LN2 0.69314718055994530942

/* -ln(x) for a normal 0 < x <= 1: the exponent apart, then the series of
 * artanh for the rest, which is within a factor sqrt(2) of 1. */
static double minus_ln(double x)
{
    uint64_t bits;
    int64_t exponent;
    double s, s2, sum = 0;

    memcpy(&bits, &x, sizeof(bits));
    exponent = (int64_t)(bits >> 52) - 1023;
    bits = (bits & 0xfffffffffffffu) | 0x3ff0000000000000u;
    memcpy(&x, &bits, sizeof(x)); /* 1 <= x < 2 */
    if (x > 1.4142135623730951) {
        x *= 0.5;
        exponent++;
    }
    s = (x - 1) / (x + 1);
    s2 = s * s;
    for (int k = 15; k >= 1; k -= 2)
        sum = sum * s2 + 1.0 / k;
    return -(2 * s * sum + (double)exponent * LN2);
}

int64_t heap_distance(uint64_t rate, uint64_t *state)
{
    /* Of 53 random bits, never 0. */
    double u = ((double)(heap_random(state) >> 11) + 1) * 0x1p-53;
    double distance = minus_ln(u) * (double)rate;

    if (rate <= 1)
        return 0;
    return distance < 0x1p62 ? (int64_t)distance + 1 : (int64_t)1 << 62;
}

/* 1 - exp(-x) for x >= 0: halved until small, then doubled back by
 * 1 - e^(-2y) = q (2 - q) with q = 1 - e^(-y), which loses no digits. */
static double one_minus_exp(double x)
{
    double sum = 0, y = x;
    int halvings = 0;

    if (x > 64)
        return 1;
    for (; y > 0.25; halvings++)
        y *= 0.5;
    /* y - y^2/2! + y^3/3! - … */
    for (int k = 12; k >= 1; k--)
        sum = (1 - sum) * y / k;
    for (; halvings > 0; halvings--)
        sum *= 2 - sum;
    return sum;
}

double heap_probability(uint64_t size, uint64_t rate)
{
    if (rate <= 1)
        return 1;
    return one_minus_exp((double)size / (double)rate);
}
