#ifndef TESTS_LIVE_HEAP_H
#define TESTS_LIVE_HEAP_H

/*
 * Counts the bytes of the heap in use, exactly, by standing in front of the C
 * library's allocator.  For tests that must find a leak at once and by
 * themselves.  With a sanitizer, which has its own allocator and its own leak
 * check, the count is always 0.
 */
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define LIVE_HEAP_IS_SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LIVE_HEAP_IS_SANITIZED
#endif

static _Atomic size_t live_heap_count;

static inline size_t live_heap_bytes(void)
{
    return live_heap_count;
}

#ifndef LIVE_HEAP_IS_SANITIZED

/* Seen by the shared libraries, too. */
#define LIVE_HEAP_EXPORT __attribute__((visibility("default")))

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void __libc_free(void *p);

static inline void *live_heap_counted(void *p)
{
    live_heap_count += malloc_usable_size(p); /* 0 of NULL */
    return p;
}

LIVE_HEAP_EXPORT void *malloc(size_t n)
{
    return live_heap_counted(__libc_malloc(n));
}

LIVE_HEAP_EXPORT void *calloc(size_t n, size_t size)
{
    return live_heap_counted(__libc_calloc(n, size));
}

LIVE_HEAP_EXPORT void *realloc(void *old, size_t n)
{
    size_t before = malloc_usable_size(old);
    void *p = __libc_realloc(old, n);

    if (p || n == 0)
        live_heap_count -= before;
    return live_heap_counted(p);
}

LIVE_HEAP_EXPORT void free(void *p)
{
    live_heap_count -= malloc_usable_size(p);
    __libc_free(p);
}

#endif
#endif
