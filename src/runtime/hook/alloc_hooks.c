/*
 * malloc and its family, wrapped: each counts the thread's bytes down, and
 * each that takes a block asks whether it may be a sampled one.  In all other
 * cases it goes on to the allocator below (alloc_next.h) with a jump.
 *
 * A sampled block is always a block of that allocator, as it would give it to
 * anybody, so malloc_usable_size and the allocator's own functions work on it
 * as ever.
 *
 * SIGNAL CONTEXT as far as the allocator below is; see heap.h.
 */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pprof/pprof.h"
#include "runtime/heap/heap.h"
#include "runtime/hook/alloc_next.h"
#include "runtime/own_code.h"

#define SLOW __attribute__((noinline, cold))

static bool can_align(uint32_t rate, size_t size)
{
    return alloc_next.can_align && heap_aligns(rate, size);
}

static void *entered(void *p, size_t size, uint32_t rate,
                     const void *return_address)
{
    if (p)
        heap_enter(p, size, rate, return_address);
    return p;
}

SLOW static void *sampled_malloc(size_t size, const void *return_address)
{
    uint32_t rate = heap_due(size);
    void *p = NULL;

    if (!rate)
        return alloc_next.malloc(size);
    if (can_align(rate, size))
        p = alloc_next.memalign(HEAP_ALIGN, size);
    return entered(p ? p : alloc_next.malloc(size), size, rate, return_address);
}

OWN_WRAPPER void *alloc_hook_malloc(size_t size)
{
    if (heap_count(size))
        return sampled_malloc(size, __builtin_return_address(0));
    return alloc_next.malloc(size);
}

SLOW static void free_known(void *p)
{
    struct live_block block;

    if (alloc_early_size(p))
        return;
    heap_leave(p, &block);
    alloc_next.free(p);
}

OWN_WRAPPER void alloc_hook_free(void *p)
{
    if (heap_may_know(p))
        free_known(p);
    else
        alloc_next.free(p);
}

SLOW static void *sampled_calloc(size_t n, size_t size, size_t bytes,
                                 const void *return_address)
{
    uint32_t rate = heap_due(bytes);
    void *p = NULL;

    if (!rate)
        return alloc_next.calloc(n, size);
    if (can_align(rate, bytes))
        p = alloc_next.memalign(HEAP_ALIGN, bytes);
    if (p)
        memset(p, 0, bytes);
    else /* a big one may be zero already, untouched */
        p = alloc_next.calloc(n, size);
    return entered(p, bytes, rate, return_address);
}

PPROF_API OWN_WRAPPER void *calloc(size_t n, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(n, size, &bytes) || bytes > PTRDIFF_MAX)
        return alloc_next.calloc(n, size); /* refused there */
    if (heap_count(bytes))
        return sampled_calloc(n, size, bytes, __builtin_return_address(0));
    return alloc_next.calloc(n, size);
}

/* A new block for the contents of p, which is freed; NULL: p is as it was. */
static void *move(void *p, size_t old_size, size_t size, bool align)
{
    void *to =
        align ? alloc_next.memalign(HEAP_ALIGN, size) : alloc_next.malloc(size);

    if (!to)
        return NULL;
    memcpy(to, p, old_size < size ? old_size : size);
    if (!alloc_early_size(p))
        alloc_next.free(p);
    return to;
}

SLOW static void *known_realloc(void *p, size_t size,
                                const void *return_address)
{
    uint32_t rate = heap_thread.left <= 0 ? heap_due(size) : 0;
    size_t early = alloc_early_size(p);
    struct live_block block;
    bool was_known;
    void *to = NULL;

    if (!p) {
        to = rate && can_align(rate, size)
                 ? alloc_next.memalign(HEAP_ALIGN, size)
                 : NULL;
        if (!to)
            to = alloc_next.malloc(size);
        return rate ? entered(to, size, rate, return_address) : to;
    }
    /* Before it is freed: from then on another thread may get it. */
    was_known = !early && heap_leave(p, &block);
    if (early)
        to = move(p, early, size, false);
    else if (rate && size && can_align(rate, size))
        to = move(p, alloc_next.usable_size(p), size, true);
    if (!to && !early)
        to = alloc_next.realloc(p, size);
    if (!to && size && was_known)
        heap_reenter(&block);
    return rate ? entered(to, size, rate, return_address) : to;
}

OWN_WRAPPER void *alloc_hook_realloc(void *p, size_t size)
{
    if (heap_count(size) || heap_may_know(p))
        return known_realloc(p, size, __builtin_return_address(0));
    return alloc_next.realloc(p, size);
}

PPROF_API OWN_WRAPPER void *reallocarray(void *p, size_t n, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(n, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    if (heap_count(bytes) || heap_may_know(p))
        return known_realloc(p, bytes, __builtin_return_address(0));
    return alloc_next.realloc(p, bytes);
}

/* --- aligned ones -------------------------------------------------------- */

/* The alignment for a block that was asked for with another one. */
static size_t raised(size_t align, size_t size, uint32_t rate)
{
    return rate && align < HEAP_ALIGN && can_align(rate, size) ? HEAP_ALIGN
                                                               : align;
}

/* All of them are rare: no care is taken to be short. */
static uint32_t count_rare(size_t size)
{
    return heap_count(size) ? heap_due(size) : 0;
}

static bool is_power_of_two(size_t n)
{
    return n && (n & (n - 1)) == 0;
}

PPROF_API OWN_WRAPPER void *memalign(size_t align, size_t size)
{
    uint32_t rate = count_rare(size);
    void *p = alloc_next.memalign(raised(align, size, rate), size);

    return rate ? entered(p, size, rate, __builtin_return_address(0)) : p;
}

PPROF_API OWN_WRAPPER void *aligned_alloc(size_t align, size_t size)
{
    uint32_t rate = count_rare(size);
    void *p;

    if (is_power_of_two(align) && raised(align, size, rate) != align)
        p = alloc_next.memalign(HEAP_ALIGN, size);
    else
        p = alloc_next.aligned_alloc(align, size);
    return rate ? entered(p, size, rate, __builtin_return_address(0)) : p;
}

PPROF_API OWN_WRAPPER int posix_memalign(void **out, size_t align, size_t size)
{
    uint32_t rate = count_rare(size);
    size_t asked = align;
    int rc;

    if (is_power_of_two(align) && align % sizeof(void *) == 0)
        align = raised(asked, size, rate);
    rc = alloc_next.posix_memalign(out, align, size);
    if (rc == 0 && rate)
        entered(*out, size, rate, __builtin_return_address(0));
    return rc;
}

PPROF_API OWN_WRAPPER void *valloc(size_t size)
{
    uint32_t rate = count_rare(size);
    void *p = alloc_next.valloc(size);

    return rate ? entered(p, size, rate, __builtin_return_address(0)) : p;
}

#if defined(__GLIBC__) /* others have none */
/* Whole pages: what is asked for is rounded up. */
PPROF_API OWN_WRAPPER void *pvalloc(size_t size)
{
    size_t bytes =
        size ? (size + HEAP_ALIGN - 1) & ~(size_t)(HEAP_ALIGN - 1) : HEAP_ALIGN;
    uint32_t rate = count_rare(bytes);
    void *p = alloc_next.pvalloc(size);

    return rate ? entered(p, bytes, rate, __builtin_return_address(0)) : p;
}
#endif

/* --- names --------------------------------------------------------------- */

#define ALIAS(name) PPROF_API __attribute__((weak, alias(name)))

ALIAS("alloc_hook_malloc") void *malloc(size_t size);
ALIAS("alloc_hook_free") void free(void *p);
ALIAS("alloc_hook_realloc") void *realloc(void *p, size_t size);

__attribute__((constructor(101))) static void find_allocator(void)
{
    alloc_next_find();
}
