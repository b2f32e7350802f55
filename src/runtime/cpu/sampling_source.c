/*
 * The list of threads and of what makes the signals of each.
 *
 * Three parties change it, under source_lock: the sampling thread, which
 * opens, scans and closes; threads that start and end where pthread_create is
 * wrapped; and fork, which holds the lock so that the child finds the list
 * whole.  Handlers never see it.  They find the file descriptor of their event
 * in sampler.events, which is cleared before a descriptor is closed.
 */
#include "runtime/cpu/sampling_source.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/own_fd.h"
#include "runtime/cpu/cpu_timer.h"
#include "runtime/cpu/handlers.h"
#include "runtime/cpu/intervals.h"
#include "runtime/cpu/perf_event.h"
#include "runtime/own_thread.h"
#include "runtime/state.h"
#include "runtime/thread/thread_list.h"

#define GRACE_NS         2000000000
#define FORK_PATIENCE_NS 20000000

enum { NONE = -1 };

struct thread_source {
    int tid;
    int event; /* its number in sampler.events, or NONE */
    int fd;    /* of the event */
    int timer; /* or NONE */
    bool seen;
};

static pthread_mutex_t source_lock = PTHREAD_MUTEX_INITIALIZER;

/* --- one thread ----------------------------------------------------------- */

/* Where new threads do not announce themselves they inherit the event. */
static bool wants_inheritance(const struct sampling_source *s)
{
    return !s->is_enabled && !runtime.sees_thread_starts;
}

static int free_event(void)
{
    for (int i = 0; i < SAMPLER_MAX_EVENTS; i++)
        if (atomic_load(&sampler.events[i]) == 0)
            return i;
    return NONE;
}

/* False: no event, errno says why. */
static bool open_event(const struct sampling_source *s, struct thread_source *t,
                       enum signal_kind kind, int64_t first_in_ns)
{
    int event = free_event();

    if (event == NONE) {
        errno = EMFILE;
        return false;
    }
    t->fd = perf_event_open(
        &(struct perf_event){.tid = t->tid,
                             .period_ns = first_in_ns,
                             .value = signal_value(kind, (unsigned)event),
                             .kernel = s->kind == CPU_SOURCE_PERF,
                             .inherit = wants_inheritance(s),
                             .disabled = !s->is_enabled});
    if (t->fd < 0)
        return false;
    assert(event >= 0 && event < SAMPLER_MAX_EVENTS);
    t->event = event;
    atomic_store(&sampler.events[event], sampler_event(t->tid, t->fd));
    return true;
}

/* False: none, or the thread has just ended.  The kernel limits the number of
 * timers (RLIMIT_SIGPENDING). */
static bool open_timer(struct sampling_source *s, struct thread_source *t,
                       enum signal_kind kind, int64_t first_in_ns)
{
    handler_install(SIGPROF);
    t->timer = cpu_timer_new(t->tid, signal_value(kind, 0));
    if (t->timer < 0) {
        s->failed += errno == EAGAIN && t->event == NONE;
        return false;
    }
    s->n_timers++;
    return cpu_timer_set(t->timer, first_in_ns, s->period_ns);
}

/* Handlers do not find the descriptor any more. */
static void hide_event(const struct thread_source *t)
{
    if (t->event == NONE)
        return;
    perf_event_enable(t->fd, false);
    atomic_store(&sampler.events[t->event], 0);
}

static void close_event(struct thread_source *t)
{
    if (t->event != NONE)
        own_fd_close(t->fd);
    t->event = NONE;
}

/* By the thread itself, or when it is dead: no handler of it runs. */
static void close_thread(struct thread_source *t)
{
    cpu_timer_free(t->timer);
    t->timer = NONE;
    hide_event(t);
    close_event(t);
}

/* --- the list ------------------------------------------------------------- */

/* Threads are listed in the order in which most were found, so the next one
 * is mostly behind the last one. */
static struct thread_source *find(struct sampling_source *s, int tid)
{
    struct thread_source *t = s->threads.p;

    for (size_t i = 0; i < s->threads.n; i++) {
        size_t at = (s->hint + i) % s->threads.n;

        if (t[at].tid == tid) {
            s->hint = at + 1;
            return &t[at];
        }
    }
    return NULL;
}

/* 0, or the error that makes the source useless as a whole. */
static int push(struct sampling_source *s, int tid, enum signal_kind kind,
                int64_t first_in_ns)
{
    struct thread_source *t = pages_vec_push(&s->threads, 1);
    bool wants_timer = s->kind != CPU_SOURCE_PERF;

    if (!t)
        return ENOMEM;
    *t = (struct thread_source){tid, NONE, NONE, NONE, true};
    if (s->kind != CPU_SOURCE_TIMER && !open_event(s, t, kind, first_in_ns)) {
        if (errno != EMFILE && errno != ENFILE)
            return errno == ESRCH ? 0 : errno; /* it has just ended */
        wants_timer = true;
    }
    if (wants_timer)
        open_timer(s, t, kind, first_in_ns);
    return 0;
}

struct scan {
    struct sampling_source *s;
    enum signal_kind kind;
    int error;
};

/* The first signal is anywhere within a period, so that threads which live
 * for less than one are counted fairly. */
static bool take_thread(void *ctx, int tid)
{
    struct scan *scan = ctx;
    struct sampling_source *s = scan->s;
    struct thread_source *t;

    if (own_thread_is(tid))
        return true;
    t = find(s, tid);
    if (t)
        t->seen = true;
    else
        scan->error = push(s, tid, scan->kind,
                           1 + intervals_below(&s->random, s->period_ns));
    return scan->error == 0;
}

/* 0, or the error that came first. */
static int scan_threads(struct sampling_source *s, enum signal_kind kind)
{
    struct scan scan = {s, kind, 0};
    struct thread_source *t = s->threads.p;
    size_t kept = 0;

    for (size_t i = 0; i < s->threads.n; i++)
        t[i].seen = false;
    s->hint = 0;
    if (!threads_each(take_thread, &scan))
        return errno;
    t = s->threads.p;
    for (size_t i = 0; i < s->threads.n; i++) {
        if (t[i].seen || scan.error)
            t[kept++] = t[i];
        else
            close_thread(&t[i]);
    }
    s->threads.n = kept;
    return scan.error;
}

static bool has_any(const struct sampling_source *s)
{
    const struct thread_source *t = s->threads.p;

    for (size_t i = 0; i < s->threads.n; i++)
        if (t[i].event != NONE || t[i].timer != NONE)
            return true;
    return false;
}

bool sampling_source_open(struct sampling_source *s, enum cpu_source kind,
                          int64_t period_ns, struct error *err)
{
    int error;
    bool ok;

    assert(period_ns > 0 && kind != CPU_SOURCE_NONE);
    if (kind != CPU_SOURCE_TIMER) {
        if (!perf_event_is_wise(err)) {
            errno = ENOTSUP;
            return false;
        }
        handler_install(SIGTRAP);
    }
    pthread_mutex_lock(&source_lock);
    *s = (struct sampling_source){
        .is_open = true,
        .kind = kind,
        .threads = {.size = sizeof(struct thread_source)},
        .period_ns = period_ns,
        .random =
            intervals_seed((uint64_t)getpid(), (uint64_t)clock_monotonic_ns())};
    error = scan_threads(s, SIGNAL_SAMPLE);
    ok = error == 0 && has_any(s);
    pthread_mutex_unlock(&source_lock);
    if (ok)
        return true;
    sampling_source_close(s);
    if (kind == CPU_SOURCE_TIMER && error == 0)
        return error_set(err, "no CPU timer could be made; the limit of "
                              "pending signals (ulimit -i) counts them");
    if (kind == CPU_SOURCE_TIMER)
        return error_set_os(err, "list", "the threads", error);
    error_set_os(err, "open", "perf events", error);
    errno = error;
    return false;
}

void sampling_source_enable(struct sampling_source *s)
{
    const struct thread_source *t;

    pthread_mutex_lock(&source_lock);
    t = s->threads.p;
    for (size_t i = 0; i < s->threads.n; i++)
        if (t[i].event != NONE)
            perf_event_enable(t[i].fd, true);
    s->is_enabled = true;
    pthread_mutex_unlock(&source_lock);
}

/* A handler may be using a descriptor: it is not closed before that one has
 * come to its end, and never if it does not. */
static void close_events(struct sampling_source *s)
{
    struct thread_source *t = s->threads.p;

    for (size_t i = 0; i < s->threads.n; i++)
        hide_event(&t[i]);
    if (!grace_wait(&runtime.modules.grace, GRACE_NS))
        return;
    for (size_t i = 0; i < s->threads.n; i++)
        close_event(&t[i]);
}

void sampling_source_change_to_timers(struct sampling_source *s)
{
    struct thread_source *t;

    pthread_mutex_lock(&source_lock);
    s->kind = CPU_SOURCE_TIMER;
    t = s->threads.p;
    for (size_t i = 0; i < s->threads.n; i++)
        if (t[i].timer == NONE)
            open_timer(s, &t[i], SIGNAL_SAMPLE,
                       1 + intervals_below(&s->random, s->period_ns));
    close_events(s);
    pthread_mutex_unlock(&source_lock);
}

bool sampling_source_scan(struct sampling_source *s)
{
    uint64_t change = threads_change();
    bool is_new = change != s->change;

    if (!change || (!is_new && ++s->looks % 10 != 0))
        return false;
    s->change = change;
    pthread_mutex_lock(&source_lock);
    scan_threads(s, SIGNAL_SAMPLE_FROM_BIRTH);
    pthread_mutex_unlock(&source_lock);
    return is_new;
}

void sampling_source_close(struct sampling_source *s)
{
    struct thread_source *t;

    pthread_mutex_lock(&source_lock);
    t = s->threads.p;
    for (size_t i = 0; i < s->threads.n; i++)
        cpu_timer_free(t[i].timer);
    close_events(s);
    pages_vec_release(&s->threads);
    s->is_open = false;
    pthread_mutex_unlock(&source_lock);
}

void sampling_source_add(struct sampling_source *s, int tid, int64_t first_ns)
{
    int64_t now = clock_ns(CLOCK_THREAD_CPUTIME_ID);

    pthread_mutex_lock(&source_lock);
    if (s->is_open && s->is_enabled && !find(s, tid))
        push(s, tid, SIGNAL_SAMPLE, first_ns > now ? first_ns - now : 1);
    pthread_mutex_unlock(&source_lock);
}

void sampling_source_remove(struct sampling_source *s, int tid)
{
    struct thread_source *t;

    pthread_mutex_lock(&source_lock);
    t = s->is_open ? find(s, tid) : NULL;
    if (t) {
        close_thread(t);
        *t = ((struct thread_source *)s->threads.p)[--s->threads.n];
    }
    pthread_mutex_unlock(&source_lock);
}

bool sampling_source_before_fork(void)
{
    struct timespec until =
        clock_timespec(clock_realtime_ns() + FORK_PATIENCE_NS);

    return pthread_mutex_timedlock(&source_lock, &until) == 0;
}

void sampling_source_after_fork_in_parent(bool locked)
{
    if (locked)
        pthread_mutex_unlock(&source_lock);
}

/* Timers are not inherited; descriptors are. */
void sampling_source_after_fork(struct sampling_source *s, bool locked)
{
    static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    const struct thread_source *t = s->threads.p;

    for (size_t i = 0; locked && s->is_open && i < s->threads.n; i++)
        if (t[i].event != NONE)
            own_fd_close(t[i].fd);
    for (int i = 0; i < SAMPLER_MAX_EVENTS; i++)
        atomic_store(&sampler.events[i], 0);
    if (locked)
        pages_vec_release(&s->threads);
    s->is_open = false;
    source_lock = fresh;
}

/* --- is it worth it? ------------------------------------------------------ */

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
