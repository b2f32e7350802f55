/* A library that comes and goes, and leaves a block behind. */
#include <stdlib.h>

__attribute__((noinline, visibility("default"))) void *
kept_by_plugin(size_t size);

void *kept_by_plugin(size_t size)
{
    void *p = malloc(size);

    __asm__ volatile("" : "+r"(p) : : "memory");
    return p;
}
