#ifndef TESTS_FAIL_REALLOC_H
#define TESTS_FAIL_REALLOC_H

/*
 * Makes the n-th call of realloc() fail, in programs linked with
 * fail_realloc_dep.  All growing of a buf is realloc; arenas use other calls,
 * since out of memory ends the program there by design.
 *
 *     for (int n = 1; !done; n++) {
 *         fail_realloc_at(n);
 *         done = operation(); // must fail cleanly until it succeeds
 *     }
 *     fail_realloc_at(0); // never again
 */
#include <stdlib.h>

static int fail_realloc_countdown;

static inline void fail_realloc_at(int n)
{
    fail_realloc_countdown = n;
}

void *__real_realloc(void *p, size_t n);
void *__wrap_realloc(void *p, size_t n);

void *__wrap_realloc(void *p, size_t n)
{
    if (fail_realloc_countdown > 0 && --fail_realloc_countdown == 0)
        return NULL;
    return __real_realloc(p, n);
}

#endif
