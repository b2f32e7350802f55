#ifndef RUNTIME_RAWCALL_H
#define RUNTIME_RAWCALL_H

#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>

/*
 * System calls without libc: no errno, no cancellation point, no wrapper
 * that somebody may have replaced.  Returns the kernel's value, -errno on
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

static inline int raw_gettid(void)
{
    return (int)raw_call4(SYS_gettid, 0, 0, 0, 0);
}

#endif
