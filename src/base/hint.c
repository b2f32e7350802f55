#include "base/hint.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#define WORTH_HUGE_PAGES ((size_t)8 << 20)

static uintptr_t page_size(void)
{
    return (uintptr_t)sysconf(_SC_PAGESIZE);
}

void hint_discard(const void *start, size_t n)
{
    uintptr_t page = page_size();
    uintptr_t from = ((uintptr_t)start + page - 1) & ~(page - 1);
    uintptr_t to = ((uintptr_t)start + n) & ~(page - 1);

    if (from < to)
        madvise((void *)from, to - from, MADV_DONTNEED);
}

void hint_expect(void *start, size_t n)
{
    uintptr_t page = page_size();
    uintptr_t from = (uintptr_t)start & ~(page - 1);
    uintptr_t to = ((uintptr_t)start + n + page - 1) & ~(page - 1);

    if (n >= WORTH_HUGE_PAGES)
        madvise((void *)from, to - from, MADV_HUGEPAGE);
}
