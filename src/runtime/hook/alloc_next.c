/*
 * The allocator is found with dlsym, which may itself allocate, at the first
 * call of whichever thread comes first.  Two threads may find it at once: both
 * write the same.
 */
#include "runtime/hook/alloc_next.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#include "runtime/heap/heap.h"
#include "runtime/hook/static_next.h"

#define EARLY_PAGES 32

static _Alignas(HEAP_ALIGN) char early[EARLY_PAGES][HEAP_ALIGN];
static _Atomic size_t early_used; /* pages */

static void *early_alloc(size_t bytes)
{
    size_t pages = bytes / HEAP_ALIGN + 1, at;

    if (pages > EARLY_PAGES)
        return NULL;
    at = atomic_fetch_add(&early_used, pages);
    if (at + pages > EARLY_PAGES)
        return NULL;
    atomic_fetch_add(heap_filter((uintptr_t)early[at]), 1); /* for good */
    return early[at];
}

/* At most: where the block ends is not kept. */
size_t alloc_early_size(const void *p)
{
    uintptr_t at = (uintptr_t)p - (uintptr_t)early;

    return at < sizeof(early) ? sizeof(early) - at : 0;
}

/* False while this very thread is at it. */
static bool find_first(void)
{
    if (heap_thread.busy & HEAP_BUSY_RESOLVE)
        return false;
    alloc_next_find();
    return true;
}

static void *first_malloc(size_t n)
{
    return find_first() ? alloc_next.malloc(n) : early_alloc(n);
}

static void first_free(void *p)
{
    if (find_first())
        alloc_next.free(p);
}

static void *first_calloc(size_t n, size_t size)
{
    if (find_first())
        return alloc_next.calloc(n, size);
    /* The arena is zeroed and never used twice. */
    return size && n > SIZE_MAX / size ? NULL : early_alloc(n * size);
}

static void *first_realloc(void *p, size_t n)
{
    return find_first() ? alloc_next.realloc(p, n) : NULL;
}

static void *first_memalign(size_t align, size_t n)
{
    return find_first()          ? alloc_next.memalign(align, n)
           : align <= HEAP_ALIGN ? early_alloc(n)
                                 : NULL;
}

static int first_posix_memalign(void **out, size_t align, size_t n)
{
    return find_first() ? alloc_next.posix_memalign(out, align, n) : ENOMEM;
}

static void *first_aligned_alloc(size_t align, size_t n)
{
    return find_first() ? alloc_next.aligned_alloc(align, n) : NULL;
}

static void *first_valloc(size_t n)
{
    return find_first() ? alloc_next.valloc(n) : early_alloc(n);
}

static void *first_pvalloc(size_t n)
{
    return find_first() ? alloc_next.pvalloc(n) : early_alloc(n);
}

struct alloc_next alloc_next = {.malloc = first_malloc,
                                .free = first_free,
                                .calloc = first_calloc,
                                .realloc = first_realloc,
                                .memalign = first_memalign,
                                .posix_memalign = first_posix_memalign,
                                .aligned_alloc = first_aligned_alloc,
                                .valloc = first_valloc,
                                .pvalloc = first_pvalloc};

void *alloc_next_symbol(const char *name)
{
    void *fn = static_next(name);

    return fn || static_next_is_needed() ? fn : dlsym(RTLD_NEXT, name);
}

/* Where the library of a function starts; NULL: unknown. */
static const void *library_of(void *function)
{
    Dl_info info;

    return function && dladdr(function, &info) ? info.dli_fbase : NULL;
}

static void find_all(struct alloc_next *n)
{
    const void *home;

    *(void **)&n->malloc = alloc_next_symbol("malloc");
    *(void **)&n->free = alloc_next_symbol("free");
    *(void **)&n->calloc = alloc_next_symbol("calloc");
    *(void **)&n->realloc = alloc_next_symbol("realloc");
    *(void **)&n->memalign = alloc_next_symbol("memalign");
    *(void **)&n->posix_memalign = alloc_next_symbol("posix_memalign");
    *(void **)&n->aligned_alloc = alloc_next_symbol("aligned_alloc");
    *(void **)&n->valloc = alloc_next_symbol("valloc");
    *(void **)&n->pvalloc = alloc_next_symbol("pvalloc");
    *(void **)&n->usable_size = alloc_next_symbol("malloc_usable_size");
    if (static_next_is_needed()) {
        n->can_align = true;
        return;
    }
    home = library_of(alloc_next_symbol("gnu_get_libc_version"));
    n->can_align = home && home == library_of(*(void **)&n->malloc) &&
                   home == library_of(*(void **)&n->memalign) &&
                   home == library_of(*(void **)&n->usable_size) &&
                   home == library_of(*(void **)&n->free);
}

/* Another library, or the program itself, may come before us: then our malloc
 * is not called. */
static void find_first_malloc(void)
{
    void *first = dlsym(RTLD_DEFAULT, "malloc");
    Dl_info info;

    if (first && dladdr(first, &info) &&
        info.dli_fbase != library_of((void *)alloc_next_find))
        snprintf(heap.taken_by, sizeof(heap.taken_by), "%s",
                 info.dli_fname ? info.dli_fname : "another library");
}

void alloc_next_find(void)
{
    static _Atomic bool found;
    struct alloc_next n = alloc_next;

    if (atomic_load(&found))
        return;
    heap_thread.busy |= HEAP_BUSY_RESOLVE;
    find_all(&n);
    if (!static_next_is_needed())
        find_first_malloc();
    heap_thread.busy &= ~(uint32_t)HEAP_BUSY_RESOLVE;
    if (n.malloc && n.free && n.calloc && n.realloc)
        alloc_next = n; /* two threads write the same */
    atomic_store(&found, true);
    if (static_next_is_needed() && !static_next_malloc_is_wrapped())
        heap.hint = "the program is linked statically: use the options of "
                    "`pkg-config --static --libs libpprof-hooks`";
    else
        atomic_store(&heap.has_hooks, true);
}
