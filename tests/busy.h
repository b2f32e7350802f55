#ifndef TESTS_BUSY_H
#define TESTS_BUSY_H

/*
 * Work to be interrupted in: recursion, callbacks through libc, formatted
 * output.
 */
#include <stdio.h>
#include <stdlib.h>

static int busy_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

__attribute__((noinline)) static double work(int depth, double *v, size_t n)
{
    char text[64];
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        v[i] = (double)((i * 7919u + (unsigned)depth) % 1009u);
    qsort(v, n, sizeof(*v), busy_compare);
    for (size_t i = 0; i < n; i += 16) {
        snprintf(text, sizeof(text), "%.3f %zu", v[i], i);
        sum += strtod(text, NULL);
    }
    if (depth > 0)
        sum += work(depth - 1, v, n);
    return sum;
}

#endif
