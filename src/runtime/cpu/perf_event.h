#ifndef RUNTIME_CPU_PERF_EVENT_H
#define RUNTIME_CPU_PERF_EVENT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "base/error.h"
#include "runtime/rawcall.h"

/*
 * The kernel's task-clock event of one thread: a synchronous SIGTRAP in the
 * thread when it has used so much CPU time.  The kernel raises it on the way
 * back to user mode, so it never interrupts a system call that waits.
 */
struct perf_event {
    int tid;
    int64_t period_ns; /* to the first signal; the kernel's minimum is 10 us */
    uint64_t value;    /* travels with the signal, see signal_value() */
    bool kernel;       /* counts the kernel's time, too: needs privileges */
    bool inherit;      /* new threads of the thread get one, too */
    bool disabled;     /* until perf_event_enable() */
};

/* The file descriptor, close-on-exec and kept (own_fd.h); -1 and errno:
 * refused. */
int perf_event_open(const struct perf_event *e);
void perf_event_enable(int fd, bool on);

/* Starts a new period at once.  Async-signal-safe. */
static inline void perf_event_set_period(int fd, int64_t period_ns)
{
    uint64_t period = (uint64_t)period_ns;

    raw_call4(SYS_ioctl, fd, PERF_EVENT_IOC_PERIOD, (long)&period, 0);
}

/* Whether events may be used at all: not under a debugger, which would stop
 * at every SIGTRAP, and not before Linux 5.19, where a SIGTRAP that a thread
 * blocks kills the process. */
bool perf_event_is_wise(struct error *err);

/*
 * The first event on a machine makes the kernel wait for every CPU, 10 to
 * 30 ms.  Hold this event while you open others, and they do not wait.
 * A file descriptor that counts nothing, or -1.  It is not kept, because who
 * closes a file would have to wait for it; so it may have been closed.
 */
int perf_event_warm(void);
void perf_event_warm_end(int fd);

#endif
