#include "base/discard.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

void discard_pages(const void *start, size_t n)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = ((uintptr_t)start + page - 1) & ~(page - 1);
    uintptr_t to = ((uintptr_t)start + n) & ~(page - 1);

    if (from < to)
        madvise((void *)from, to - from, MADV_DONTNEED);
}
