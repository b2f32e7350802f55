#include "runtime/source.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "runtime/state.h"

/* More threads than this when a profile starts, and an fd for each would eat
 * what the program needs. */
#define MAX_PERF_FDS 256

struct linux_dirent {
    uint64_t ino;
    int64_t off;
    unsigned short len;
    unsigned char type;
    char name[];
};

bool source_each_thread(bool (*each)(void *ctx, int tid), void *ctx)
{
    int fd = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    _Alignas(8) char room[4096];
    bool go_on = true;
    long n = 0;

    if (fd < 0)
        return false;
    runtime_own_threads_settle();
    while (go_on && (n = syscall(SYS_getdents64, fd, room, sizeof(room))) > 0) {
        for (long at = 0; go_on && at < n;) {
            const struct linux_dirent *d = (const void *)(room + at);
            uint64_t tid;

            at += d->len;
            if (str_to_u64(str_from(d->name), 10, &tid))
                go_on = each(ctx, (int)tid);
        }
    }
    close(fd);
    return n >= 0;
}

static int perf_open(int tid, int64_t period_ns, bool kernel)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof(attr),
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .sample_period = (uint64_t)period_ns,
        .disabled = 1,
        .inherit = 1,
        .exclude_kernel = !kernel,
        .exclude_hv = 1,
        .inherit_thread = 1,
        .remove_on_exec = 1,
        .sigtrap = 1,
        .sig_data = SAMPLER_COOKIE,
    };

    return (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1,
                        PERF_FLAG_FD_CLOEXEC);
}

/* 4000 switches at 2 us are 0.8 %; work that is bound to the 250 ticks of a
 * second stays well below. */
#define MAX_SWITCHES 4000
#define MIN_CPU_NS   50000000

bool source_is_switchy(struct source_load *since, double *per_second)
{
    struct rusage usage;
    int64_t cpu, switches;
    double rate;

    if (getrusage(RUSAGE_SELF, &usage) != 0)
        return false;
    cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - since->cpu_ns;
    switches = usage.ru_nvcsw - since->switches;
    if (cpu < MIN_CPU_NS)
        return false;
    since->cpu_ns += cpu;
    since->switches += switches;
    rate = (double)switches * 1e9 / (double)cpu;
    if (rate <= MAX_SWITCHES)
        return false;
    *per_second = rate;
    return true;
}

int source_perf_warm(void)
{
    return perf_open(0, 1000000000, false);
}

struct perf_opening {
    struct source_perf *s;
    int64_t period_ns;
    bool kernel;
    int error;
};

static bool perf_open_thread(void *ctx, int tid)
{
    struct perf_opening *o = ctx;
    int fd, *to;

    if (runtime_is_own_thread(tid))
        return true;
    if (o->s->fds.n == MAX_PERF_FDS) {
        o->error = EMFILE;
        return false;
    }
    fd = perf_open(tid, o->period_ns, o->kernel);
    if (fd < 0 && errno == ESRCH)
        return true; /* it has just ended */
    to = fd < 0 ? NULL : pages_vec_push(&o->s->fds, 1);
    if (!to) {
        o->error = fd < 0 ? errno : ENOMEM;
        if (fd >= 0)
            close(fd);
        return false;
    }
    *to = fd;
    return true;
}

/* A debugger would stop at every SIGTRAP; before 5.19 a SIGTRAP that a thread
 * blocks kills the process. */
static bool perf_is_wise(struct error *err)
{
    struct utsname u;
    unsigned major = 0, minor = 0;
    char text[4096], *tracer;
    int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    tracer = strstr(text, "TracerPid:");
    if (tracer && strtol(tracer + 10, NULL, 10) != 0)
        return error_set(err, "perf events: the process is being traced");
    if (uname(&u) != 0 || sscanf(u.release, "%u.%u", &major, &minor) != 2 ||
        major < 5 || (major == 5 && minor < 19))
        return error_set(err, "perf events: Linux is older than 5.19");
    return true;
}

bool source_perf_open(struct source_perf *s, int64_t period_ns, bool user_only,
                      enum cpu_source *kind, struct error *err)
{
    struct perf_opening o = {s, period_ns, true, 0};

    *s = (struct source_perf){.fds = {.size = sizeof(int)}};
    if (!perf_is_wise(err))
        return false;
    for (int kernel = !user_only; kernel >= 0; kernel--) {
        o.kernel = kernel;
        o.error = 0;
        if (!source_each_thread(perf_open_thread, &o))
            o.error = errno;
        if (o.error == 0 && s->fds.n > 0) {
            *kind = kernel ? CPU_SOURCE_PERF : CPU_SOURCE_PERF_USER;
            return true;
        }
        source_perf_close(s);
        if (o.error != EACCES && o.error != EPERM)
            break;
    }
    return error_set_os(err, "open", "perf events", o.error);
}

void source_perf_enable(struct source_perf *s, bool on)
{
    const int *fds = s->fds.p;

    for (size_t i = 0; i < s->fds.n; i++)
        ioctl(fds[i], on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

void source_perf_close(struct source_perf *s)
{
    const int *fds = s->fds.p;

    for (size_t i = 0; i < s->fds.n; i++)
        close(fds[i]);
    pages_vec_release(&s->fds);
}

/* The CPU clock of a thread of this process, as the kernel numbers it. */
static clockid_t thread_clock(int tid)
{
    return (clockid_t)(~(unsigned)tid << 3 | 6);
}

/* The first expiry is anywhere within a period, so that threads which live
 * for less than one are counted fairly. */
static int64_t random_below(struct source_timer *s, int64_t limit)
{
    s->seed = s->seed * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((s->seed >> 33) % (uint64_t)limit) + 1;
}

/* Threads make and delete timers for themselves while the keeper looks for
 * others. */
static pthread_mutex_t timer_lock = PTHREAD_MUTEX_INITIALIZER;

static int timer_make(int64_t period_ns, int tid, int64_t first_ns)
{
    struct itimerspec at = {.it_value = clock_timespec(first_ns),
                            .it_interval = clock_timespec(period_ns)};
    struct sigevent ev = {.sigev_notify = SIGEV_THREAD_ID,
                          .sigev_signo = SIGPROF,
                          .sigev_value.sival_ptr = (void *)SAMPLER_COOKIE};
    int timer;

    ev._sigev_un._tid = tid;
    if (syscall(SYS_timer_create, thread_clock(tid), &ev, &timer) != 0)
        return -1;
    if (syscall(SYS_timer_settime, timer, TIMER_ABSTIME, &at, NULL) != 0) {
        syscall(SYS_timer_delete, timer);
        return -1;
    }
    return timer;
}

static void timer_delete_of(const struct thread_timer *t)
{
    if (t->timer >= 0)
        syscall(SYS_timer_delete, t->timer);
}

/* Threads are listed in the order in which most were found, so the next one
 * is mostly behind the last one. */
static struct thread_timer *timer_find(struct source_timer *s, int tid)
{
    struct thread_timer *t = s->timers.p;

    for (size_t i = 0; i < s->timers.n; i++) {
        size_t at = (s->hint + i) % s->timers.n;

        if (t[at].tid == tid) {
            s->hint = at + 1;
            return &t[at];
        }
    }
    return NULL;
}

static bool timer_push(struct source_timer *s, int tid, int64_t first_ns)
{
    struct thread_timer *t = pages_vec_push(&s->timers, 1);

    if (!t)
        return false;
    *t = (struct thread_timer){tid, timer_make(s->period_ns, tid, first_ns),
                               true};
    s->failed += t->timer < 0 && errno == EAGAIN;
    return true;
}

struct timer_scan {
    struct source_timer *s;
    bool is_start;
};

static bool timer_take_thread(void *ctx, int tid)
{
    struct timer_scan *scan = ctx;
    struct source_timer *s = scan->s;
    struct thread_timer *t;

    if (runtime_is_own_thread(tid))
        return true;
    t = timer_find(s, tid);
    if (t) {
        t->seen = true;
        return true;
    }
    /* A new thread's clock began at 0: what it used before we found it comes
     * as overruns of the first signal. */
    return timer_push(s, tid,
                      random_below(s, s->period_ns) +
                          (scan->is_start ? clock_ns(thread_clock(tid)) : 0));
}

static void timer_scan(struct source_timer *s, bool is_start)
{
    struct timer_scan scan = {s, is_start};
    struct thread_timer *t = s->timers.p;
    size_t kept = 0;

    for (size_t i = 0; i < s->timers.n; i++)
        t[i].seen = false;
    s->hint = 0;
    if (!source_each_thread(timer_take_thread, &scan))
        return;
    t = s->timers.p;
    for (size_t i = 0; i < s->timers.n; i++) {
        if (t[i].seen)
            t[kept++] = t[i];
        else
            timer_delete_of(&t[i]);
    }
    s->timers.n = kept;
}

bool source_timer_open(struct source_timer *s, int64_t period_ns,
                       struct error *err)
{
    bool any = false;

    pthread_mutex_lock(&timer_lock);
    *s = (struct source_timer){.is_open = true,
                               .timers = {.size = sizeof(struct thread_timer)},
                               .period_ns = period_ns};
    s->seed = (uint64_t)clock_monotonic_ns();
    timer_scan(s, true);
    for (size_t i = 0; i < s->timers.n; i++)
        any |= ((struct thread_timer *)s->timers.p)[i].timer >= 0;
    pthread_mutex_unlock(&timer_lock);
    if (any)
        return true;
    source_timer_close(s);
    return error_set(err, "no CPU timer could be made");
}

bool source_timer_scan(struct source_timer *s)
{
    struct stat st;
    bool is_new;

    /* A directory has as many links as it has directories in it, and 2. */
    if (stat("/proc/self/task", &st) != 0)
        return false;
    is_new = st.st_nlink != s->n_threads;
    if (!is_new && ++s->looks % 10 != 0)
        return false;
    s->n_threads = st.st_nlink;
    pthread_mutex_lock(&timer_lock);
    timer_scan(s, false);
    pthread_mutex_unlock(&timer_lock);
    return is_new;
}

void source_timer_close(struct source_timer *s)
{
    struct thread_timer *t;

    pthread_mutex_lock(&timer_lock);
    t = s->timers.p;
    for (size_t i = 0; i < s->timers.n; i++)
        timer_delete_of(&t[i]);
    pages_vec_release(&s->timers);
    s->is_open = false;
    pthread_mutex_unlock(&timer_lock);
}

void source_timer_add(struct source_timer *s, int tid, int64_t first_ns)
{
    pthread_mutex_lock(&timer_lock);
    if (s->is_open && !timer_find(s, tid))
        timer_push(s, tid, first_ns);
    pthread_mutex_unlock(&timer_lock);
}

void source_timer_remove(struct source_timer *s, int tid)
{
    struct thread_timer *t;

    pthread_mutex_lock(&timer_lock);
    t = s->is_open ? timer_find(s, tid) : NULL;
    if (t) {
        timer_delete_of(t);
        *t = ((struct thread_timer *)s->timers.p)[--s->timers.n];
    }
    pthread_mutex_unlock(&timer_lock);
}

void source_timer_after_fork(void)
{
    static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;

    timer_lock = fresh;
}
