#ifndef RUNTIME_CPU_CPU_TIMER_H
#define RUNTIME_CPU_CPU_TIMER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/clock.h"
#include "runtime/rawcall.h"

/*
 * A kernel timer on the CPU clock of one thread: SIGPROF in that thread.
 *
 * The kernel looks at these timers at the scheduler's ticks only, so a signal
 * comes at the first tick after its time (4 ms apart at 250 Hz).  It is raised
 * on the way back to user mode and interrupts no system call that waits (on
 * kernels since 5.11 for x86-64 and aarch64).
 */

/* Not running yet.  -1 and errno: refused (EAGAIN: RLIMIT_SIGPENDING). */
int cpu_timer_new(int tid, uint64_t value);
void cpu_timer_free(int timer); /* -1: nothing */

static inline bool cpu_timer_arm(int timer, int flags, int64_t first_ns,
                                 int64_t period_ns)
{
    struct itimerspec at = {.it_value = clock_timespec(first_ns),
                            .it_interval = clock_timespec(period_ns)};

    return raw_call4(SYS_timer_settime, timer, flags, (long)&at, 0) == 0;
}

/*
 * The next signal when the thread's CPU clock shows at_ns, and then every
 * period_ns (0: only once).  False: refused.  Async-signal-safe.
 *
 * For the calling thread only: if the time has passed, the kernel sends the
 * signal at once, and to another thread that would interrupt a wait.
 */
static inline bool cpu_timer_set_own(int timer, int64_t at_ns,
                                     int64_t period_ns)
{
    return cpu_timer_arm(timer, TIMER_ABSTIME, at_ns, period_ns);
}

/* For any thread: the next signal when it has run for in_ns (> 0) more. */
static inline bool cpu_timer_set(int timer, int64_t in_ns, int64_t period_ns)
{
    return cpu_timer_arm(timer, 0, in_ns, period_ns);
}

#endif
