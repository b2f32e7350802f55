#ifndef TESTS_UNIT_FAIL_ALLOC_H
#define TESTS_UNIT_FAIL_ALLOC_H

/*
 * Makes the n-th allocation fail, in programs linked with fail_alloc_dep,
 * while fail_alloc_active is set.  The flag keeps arenas out of it, where out
 * of memory ends the program by design.  Shared libraries are not touched.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

static _Atomic int fail_alloc_countdown;
static _Atomic bool fail_alloc_active;

static inline void fail_alloc_at(int n)
{
    fail_alloc_countdown = n;
}

static inline bool fail_alloc_now(void)
{
    return fail_alloc_active && fail_alloc_countdown > 0 &&
           atomic_fetch_sub(&fail_alloc_countdown, 1) == 1;
}

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);

void *__wrap_malloc(size_t n)
{
    return fail_alloc_now() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fail_alloc_now() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
    return fail_alloc_now() ? NULL : __real_realloc(p, n);
}

#endif
