#include "runtime/cpu/cpu_timer.h"

#include <signal.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id /* of Linux, not of every glibc */
#define sigev_notify_thread_id _sigev_un._tid
#endif

int cpu_timer_new(int tid, uint64_t value)
{
    struct sigevent ev = {.sigev_notify = SIGEV_THREAD_ID,
                          .sigev_signo = SIGPROF,
                          .sigev_value.sival_ptr = (void *)(uintptr_t)value};
    int timer;

    ev.sigev_notify_thread_id = tid;
    return syscall(SYS_timer_create, clock_of_thread(tid), &ev, &timer) == 0
               ? timer
               : -1;
}

void cpu_timer_free(int timer)
{
    if (timer >= 0)
        raw_call4(SYS_timer_delete, timer, 0, 0, 0);
}
