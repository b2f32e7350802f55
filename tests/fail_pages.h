#ifndef TESTS_FAIL_PAGES_H
#define TESTS_FAIL_PAGES_H

/*
 * Makes the n-th call of mmap() or mremap() fail, in programs linked with
 * fail_pages_dep: all memory of libpprof comes from these (base/pages.h).
 * Counts the bytes that are mapped, so that a test sees what was lost.
 *
 *     for (int n = 1; fail_pages_at(n), operation(), fail_pages_was_hit(); n++)
 *         ... // failed cleanly, or did without
 */
#include <stdatomic.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/types.h>

static _Atomic int fail_pages_countdown;
static _Atomic int64_t fail_pages_bytes; /* mapped and not unmapped */

static inline void fail_pages_at(int n)
{
    atomic_store(&fail_pages_countdown, n);
}

/* Has the call that was to fail come?  None fails any more. */
static inline bool fail_pages_was_hit(void)
{
    return atomic_exchange(&fail_pages_countdown, 0) <= 0;
}

static bool fail_pages_now(void)
{
    if (atomic_load(&fail_pages_countdown) <= 0 ||
        atomic_fetch_sub(&fail_pages_countdown, 1) != 1)
        return false;
    errno = ENOMEM;
    return true;
}

static int64_t fail_pages_whole(size_t bytes)
{
    return (int64_t)((bytes + 4095) & ~(size_t)4095);
}

void *__real_mmap64(void *p, size_t n, int prot, int flags, int fd, off_t at);
void *__wrap_mmap64(void *p, size_t n, int prot, int flags, int fd, off_t at);
int __real_munmap(void *p, size_t n);
int __wrap_munmap(void *p, size_t n);
void *__real_mremap(void *p, size_t from, size_t to, int flags);
void *__wrap_mremap(void *p, size_t from, size_t to, int flags);

void *__wrap_mmap64(void *p, size_t n, int prot, int flags, int fd, off_t at)
{
    void *got = fail_pages_now() ? MAP_FAILED
                                 : __real_mmap64(p, n, prot, flags, fd, at);

    if (got != MAP_FAILED)
        atomic_fetch_add(&fail_pages_bytes, fail_pages_whole(n));
    return got;
}

int __wrap_munmap(void *p, size_t n)
{
    atomic_fetch_sub(&fail_pages_bytes, fail_pages_whole(n));
    return __real_munmap(p, n);
}

void *__wrap_mremap(void *p, size_t from, size_t to, int flags)
{
    void *got =
        fail_pages_now() ? MAP_FAILED : __real_mremap(p, from, to, flags);

    if (got != MAP_FAILED)
        atomic_fetch_add(&fail_pages_bytes,
                         fail_pages_whole(to) - fail_pages_whole(from));
    return got;
}

#endif
