#include "base/hint.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_PAGE ((uintptr_t)2 << 20)

/* What madvise(2) is asked for, about the whole units among the bytes. */
static void advise(const void *start, size_t n, uintptr_t unit, int advice)
{
    uintptr_t from = ((uintptr_t)start + unit - 1) & ~(unit - 1);
    uintptr_t to = ((uintptr_t)start + n) & ~(unit - 1);

    if (from < to)
        madvise((void *)from, to - from, advice);
}

void hint_discard(const void *start, size_t n)
{
    advise(start, n, (uintptr_t)sysconf(_SC_PAGESIZE), MADV_DONTNEED);
}

void hint_expect(void *start, size_t n)
{
    advise(start, n, HUGE_PAGE, MADV_HUGEPAGE);
}
