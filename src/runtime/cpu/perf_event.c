#include "runtime/cpu/perf_event.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/own_fd.h"

static int open_event(const struct perf_event *e)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof(attr),
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .sample_period = (uint64_t)e->period_ns,
        .disabled = e->disabled,
        .inherit = e->inherit,
        .inherit_thread = e->inherit,
        .exclude_kernel = !e->kernel,
        .exclude_hv = 1,
        .remove_on_exec = 1,
        .sigtrap = 1,
        .sig_data = e->value,
    };

    return (int)syscall(SYS_perf_event_open, &attr, e->tid, -1, -1,
                        PERF_FLAG_FD_CLOEXEC);
}

int perf_event_open(const struct perf_event *e)
{
    own_fd_begin();
    return own_fd_keep(open_event(e));
}

void perf_event_enable(int fd, bool on)
{
    ioctl(fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

static bool is_traced(void)
{
    char text[4096], *tracer;
    int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    tracer = strstr(text, "TracerPid:");
    return tracer && strtol(tracer + 10, NULL, 10) != 0;
}

bool perf_event_is_wise(struct error *err)
{
    unsigned major = 0, minor = 0;
    struct utsname u;

    if (is_traced())
        return error_set(err, "perf events: the process is being traced");
    if (uname(&u) != 0 || sscanf(u.release, "%u.%u", &major, &minor) != 2 ||
        major < 5 || (major == 5 && minor < 19))
        return error_set(err, "perf events: Linux is older than 5.19");
    return true;
}

int perf_event_warm(void)
{
    return open_event(&(struct perf_event){
        .period_ns = 1000000000, .inherit = true, .disabled = true});
}

void perf_event_warm_end(int fd)
{
    uint64_t id;

    if (fd >= 0 && ioctl(fd, PERF_EVENT_IOC_ID, &id) == 0)
        close(fd);
}
