/*
 * The sampling thread.  It opens the source of samples, because the kernel may
 * take 10 to 30 ms for its first event and the caller must not wait for that.
 * Then it checks ten times a second whether something has changed: new
 * threads, new code, a program that has taken over our signal, or one that
 * switches between threads so often that events cost too much.
 */
#include "runtime/cpu/sampling_thread.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "runtime/cpu/handlers.h"
#include "runtime/cpu/perf_event.h"
#include "runtime/cpu/sampling_source.h"
#include "runtime/cpu/sigprof.h"
#include "runtime/own_thread.h"
#include "runtime/rawcall.h"
#include "runtime/state.h"
#include "runtime/unwind/table_builder.h"

/* How often new threads (timers) and new modules are looked for; threads more
 * often for a while when some came or went. */
#define LOOK_NS      100000000
#define BUSY_LOOK_NS 20000000
#define BUSY_LOOKS   50

/* How long the caller waits until samples come: for our thread to run, and
 * for the kernel when this is its first event. */
#define KEEPER_PATIENCE_NS 100000000
#define KERNEL_PATIENCE_NS 2000000

/* How far the sampling thread is with the source of samples. */
enum { SOURCE_LATER, SOURCE_KERNEL, SOURCE_OPENING, SOURCE_UP, SOURCE_REFUSED };

static struct {
    struct sampling_thread_options options;
    _Atomic bool is_up;
    pthread_t thread;
    sem_t wake;
    _Atomic bool stop;
    _Atomic uint32_t state; /* a futex */
    struct error error;
    int warm_fd; /* of perf_event_warm(), else 0 */
    struct sampling_source source;
    struct source_load load;
    double changed_at; /* switches a CPU second when timers took over */
    bool handler_lost; /* the program took our signal over */
} sampling;

/* Without our handler the next signal would end the program or surprise it:
 * stop at once, and say so in the profile. */
static void watch_handler(void)
{
    const struct sampling_source *s = &sampling.source;

    if (!s->is_open ||
        ((s->kind == CPU_SOURCE_TIMER || handler_is_installed(SIGTRAP)) &&
         (s->n_timers == 0 || handler_is_installed(SIGPROF))))
        return;
    sampling.handler_lost = true;
    sampling_source_close(&sampling.source);
}

static bool open_as(enum cpu_source kind, struct error *err)
{
    if (!sampling_source_open(&sampling.source, kind,
                              sampling.options.period_ns, err))
        return false;
    sampler.source = kind;
    return true;
}

static bool open_perf(struct error *err)
{
    if (!sampling.options.user_only && open_as(CPU_SOURCE_PERF, err))
        return true;
    return (sampling.options.user_only || errno == EACCES || errno == EPERM) &&
           open_as(CPU_SOURCE_PERF_USER, err);
}

static bool wants_timers(void)
{
    return sampling.options.only_timer ||
           (!sampling.options.only_perf &&
            source_is_switchy(&sampling.load, &sampling.changed_at));
}

/* Nothing fires before sampler.running is set: the events are disabled, and
 * the handler ignores what a timer sends. */
static bool open_source(struct error *err)
{
    return (!wants_timers() && open_perf(err)) ||
           (!sampling.options.only_perf && open_as(CPU_SOURCE_TIMER, err));
}

/* A thread's account goes on: whichever signal comes next counts from where
 * the last one did. */
static void watch_switches(void)
{
    if (!sampling.source.is_open || sampling.source.kind == CPU_SOURCE_TIMER ||
        sampling.options.only_perf || !wants_timers())
        return;
    sampler.source = CPU_SOURCE_TIMER;
    sampling_source_change_to_timers(&sampling.source);
}

static void set_state(uint32_t state)
{
    atomic_store(&sampling.state, state);
    raw_futex_wake(&sampling.state);
}

static bool start_source(void)
{
    int warm = -1;

    if (!sampling.options.only_timer) {
        set_state(SOURCE_KERNEL);
        warm = perf_event_warm();
        sampling.warm_fd = warm > 0 ? warm : 0;
        set_state(SOURCE_OPENING);
    }
    if (open_source(&sampling.error)) {
        atomic_store(&sampler.running, true);
        sampling_source_enable(&sampling.source);
        set_state(SOURCE_UP);
    } else {
        set_state(SOURCE_REFUSED);
    }
    sampling.warm_fd = 0;
    perf_event_warm_end(warm);
    return atomic_load(&sampling.state) == SOURCE_UP;
}

static void pause_for(int64_t ns)
{
    struct timespec until = clock_timespec(clock_monotonic_ns() + ns);

    sem_clockwait(&sampling.wake, CLOCK_MONOTONIC, &until);
}

static void *keep(void *arg)
{
    int64_t next_look = 0;
    unsigned busy = 0;

    (void)arg;
    if (!start_source())
        return NULL;
    while (!atomic_load(&sampling.stop)) {
        int64_t now = clock_monotonic_ns();

        watch_handler();
        if (sampling.source.is_open && sampling_source_scan(&sampling.source))
            busy = BUSY_LOOKS;
        if (now >= next_look) {
            watch_switches();
            table_builder_refresh();
            next_look = now + LOOK_NS;
        }
        pause_for(busy > 0 ? BUSY_LOOK_NS : LOOK_NS);
        busy -= busy > 0;
    }
    return NULL;
}

/* Where perf is refused that is known at once.  When the kernel takes its
 * time, samples come a little later than we return. */
static bool wait_for_source(struct error *err)
{
    int64_t start = clock_monotonic_ns(), left = KEEPER_PATIENCE_NS;
    uint32_t state = atomic_load(&sampling.state);

    while (state < SOURCE_UP && left > 0) {
        raw_futex_wait(&sampling.state, state,
                       state == SOURCE_KERNEL ? KERNEL_PATIENCE_NS : left);
        left = start + KEEPER_PATIENCE_NS - clock_monotonic_ns();
        if (state == SOURCE_KERNEL &&
            atomic_load(&sampling.state) == SOURCE_KERNEL)
            return true;
        state = atomic_load(&sampling.state);
    }
    if (state == SOURCE_REFUSED)
        *err = sampling.error;
    return state != SOURCE_REFUSED;
}

bool sampling_thread_start(const struct sampling_thread_options *options,
                           struct error *err)
{
    assert(!atomic_load(&sampling.is_up) && options->period_ns > 0);
    sampling.options = *options;
    sampling.handler_lost = false;
    sampling.changed_at = 0;
    sampling.load = (struct source_load){0};
    sampler.source = CPU_SOURCE_NONE;
    atomic_store(&sampling.stop, false);
    atomic_store(&sampling.state, SOURCE_LATER);
    sem_init(&sampling.wake, 0, 0);
    if (!own_thread_start(&sampling.thread, "pprof-cpu", keep, NULL, err))
        return false;
    atomic_store(&sampling.is_up, true);
    if (wait_for_source(err))
        return true;
    sampling_thread_stop();
    return false;
}

void sampling_thread_stop(void)
{
    if (!atomic_exchange(&sampling.is_up, false))
        return;
    atomic_store(&sampler.running, false);
    atomic_store(&sampling.stop, true);
    sem_post(&sampling.wake);
    pthread_join(sampling.thread, NULL);
    atomic_store(&sampler.running, false); /* it may have just begun */
    if (sampling.source.is_open)
        sampling_source_close(&sampling.source);
}

void sampling_thread_add_comments(struct buf *out)
{
    static const char *const names[] = {
        "none", "perf task-clock (kernel time included)",
        "perf task-clock for user mode, thread CPU timers for the kernel",
        "thread CPU timers (overruns counted)"};

    buf_addf(out, "cpu source: %s\n", names[sampler.source]);
    if (sampling.changed_at > 0)
        buf_addf(out,
                 "no perf events: %.0f thread switches per CPU second make "
                 "them expensive\n",
                 sampling.changed_at);
    if (sampling.source.failed)
        buf_addf(out, "threads without a timer: %llu\n",
                 (unsigned long long)sampling.source.failed);
    if (sampler.source == CPU_SOURCE_NONE)
        buf_addf(out, "no samples: %s\n", sampling.error.text);
    if (sampling.handler_lost)
        buf_addf(out, "ended early: the program replaced our signal handler\n");
}

void sampling_thread_thread_begin(void)
{
    int64_t first_ns = sigprof_thread_begin();

    if (first_ns)
        sampling_source_add(&sampling.source, raw_gettid(), first_ns);
}

void sampling_thread_thread_end(void *(*run)(void *))
{
    if (atomic_load(&sampler.running))
        sampling_source_remove(&sampling.source, raw_gettid());
    sigprof_thread_end(run);
}

bool sampling_thread_before_fork(void)
{
    return sampling_source_before_fork();
}

void sampling_thread_after_fork_in_parent(bool locked)
{
    sampling_source_after_fork_in_parent(locked);
}

void sampling_thread_after_fork(bool locked)
{
    sampling_source_after_fork(&sampling.source, locked);
    if (sampling.warm_fd > 0)
        perf_event_warm_end(sampling.warm_fd);
    sampling.warm_fd = 0;
    atomic_store(&sampler.running, false);
    atomic_store(&sampling.is_up, false);
}
