#ifndef RUNTIME_RAWCALL_H
#define RUNTIME_RAWCALL_H

#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>

/*
 * System calls without libc: no errno, no cancellation point, no wrapper that
 * the program may have replaced.  Returns the kernel's value, -errno on
 * failure.  For code that runs in signal handlers.
 */
static inline long raw_call4(long nr, long a, long b, long c, long d)
{
#if defined(__x86_64__)
    long ret;
    register long r10 __asm__("r10") = d;

    __asm__ volatile("syscall"
                     : "=a"(ret)
                     : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10)
                     : "rcx", "r11", "memory");
    return ret;
#else
    register long x8 __asm__("x8") = nr;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;

    __asm__ volatile("svc 0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3)
                     : "memory");
    return x0;
#endif
}

static inline long raw_call6(long nr, long a, long b, long c, long d, long e,
                             long f)
{
#if defined(__x86_64__)
    long ret;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;

    __asm__ volatile("syscall"
                     : "=a"(ret)
                     : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8),
                       "r"(r9)
                     : "rcx", "r11", "memory");
    return ret;
#else
    register long x8 __asm__("x8") = nr;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;

    __asm__ volatile("svc 0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
#endif
}

/*
 * Copies memory of this process that another thread may be about to unmap:
 * the bytes that could be read, from the start on.  0 also where a sandbox
 * forbids the call.
 */
static inline size_t raw_copy(void *to, uint64_t from, size_t n)
{
    struct iovec mine = {.iov_base = to, .iov_len = n};
    struct iovec theirs = {.iov_base = (void *)(uintptr_t)from, .iov_len = n};
    long pid = raw_call4(SYS_getpid, 0, 0, 0, 0);
    long got = raw_call6(SYS_process_vm_readv, pid, (long)&mine, 1,
                         (long)&theirs, 1, 0);

    return got > 0 ? (size_t)got : 0;
}

/* Reads a word that may not be there.  False: it is not, or the process may
 * not do this. */
static inline bool raw_load_u32(uint64_t address, uint32_t *out)
{
    return raw_copy(out, address, sizeof(*out)) == sizeof(*out);
}

/* Sleeps while the word has this value, for ns at most (0: any time); may
 * wake earlier. */
static inline void raw_futex_wait(_Atomic uint32_t *word, uint32_t value,
                                  int64_t ns)
{
    struct timespec t = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};

    raw_call4(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, (long)value,
              ns ? (long)&t : 0);
}

static inline void raw_futex_wake(_Atomic uint32_t *word)
{
    raw_call4(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, 1, 0);
}

static inline void raw_futex_wake_all(_Atomic uint32_t *word)
{
    raw_call4(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, 0x7fffffff, 0);
}

static inline int raw_gettid(void)
{
    return (int)raw_call4(SYS_gettid, 0, 0, 0, 0);
}

#endif
