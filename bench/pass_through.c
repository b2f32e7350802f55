/*
 * A preload library that passes malloc and free on and does nothing else:
 * what any wrapper costs, for bench/heap_cost.py.
 */
#include <dlfcn.h>
#include <stdlib.h>

static void *(*next_malloc)(size_t);
static void (*next_free)(void *);

__attribute__((constructor)) static void find(void)
{
    *(void **)&next_malloc = dlsym(RTLD_NEXT, "malloc");
    *(void **)&next_free = dlsym(RTLD_NEXT, "free");
}

__attribute__((visibility("default"))) void *malloc(size_t size)
{
    if (__builtin_expect(!next_malloc, 0))
        find();
    return next_malloc(size);
}

__attribute__((visibility("default"))) void free(void *p)
{
    if (__builtin_expect(!next_free, 0))
        find();
    next_free(p);
}
