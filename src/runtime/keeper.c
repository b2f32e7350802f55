#include "runtime/keeper.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "runtime/builder.h"
#include "runtime/rawcall.h"
#include "runtime/sigprof.h"
#include "runtime/source.h"
#include "runtime/state.h"

/* How often new threads (timers) and new modules are looked for; threads more
 * often for a while when some came or went. */
#define LOOK_NS      100000000
#define BUSY_LOOK_NS 20000000
#define BUSY_LOOKS   50

/* How long the caller waits until samples come: for our thread to run, and
 * for the kernel when this is its first event. */
#define KEEPER_PATIENCE_NS 100000000
#define KERNEL_PATIENCE_NS 2000000

/* How far the keeper is with the source of samples. */
enum { SOURCE_LATER, SOURCE_KERNEL, SOURCE_OPENING, SOURCE_UP, SOURCE_REFUSED };

static struct {
    struct keeper_options options;
    _Atomic bool is_up;
    pthread_t thread;
    sem_t wake;
    _Atomic bool stop;
    _Atomic uint32_t state; /* a futex */
    struct error error;
    int warm_fd; /* of source_perf_warm(), else 0 */
    bool has_perf, has_timer;
    struct source_perf perf;
    struct source_timer timer;
    struct source_load load;
    double changed_at; /* switches a CPU second when timers took over */
    bool handler_lost; /* the program took our signal over */
} keeper;

static void install(int sig, struct program_action *old)
{
    struct sigaction ours = {.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    struct sigaction now;

    ours.sa_sigaction = sigprof_on_sample;
    sigfillset(&ours.sa_mask);
    sampler.sigaction(sig, NULL, &now);
    if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == sigprof_on_sample)
        return;
    program_action_set(old, &now);
    sampler.sigaction(sig, &ours, NULL);
}

static bool is_installed(int sig)
{
    struct sigaction now;

    sampler.sigaction(sig, NULL, &now);
    return (now.sa_flags & SA_SIGINFO) && now.sa_sigaction == sigprof_on_sample;
}

/* The program's handler back.  The default one only if no signal of ours can
 * be on its way any more: it would end the program. */
static void uninstall(int sig, struct program_action *old)
{
    if (is_installed(sig) && atomic_load(&old->handler) != 0 /* SIG_DFL */)
        sampler.sigaction(sig, &old->full, NULL);
}

static void close_perf(void)
{
    if (!keeper.has_perf)
        return;
    source_perf_enable(&keeper.perf, false);
    source_perf_close(&keeper.perf);
    keeper.has_perf = false;
}

/* The handlers stay: a sample that is on its way when its source closes would
 * else reach the program's handler, or end the program.  They pass on what is
 * not ours.  With the lock, as in open_source(). */
static void close_sources(void)
{
    runtime_lock();
    close_perf();
    if (keeper.has_timer)
        source_timer_close(&keeper.timer);
    keeper.has_timer = false;
    runtime_unlock();
}

/* Without our handler the next signal would end the program or surprise it:
 * stop at once, and say so in the profile. */
static void watch_handler(void)
{
    if ((keeper.has_perf && !is_installed(SIGTRAP)) ||
        (keeper.has_timer && !is_installed(SIGPROF))) {
        keeper.handler_lost = true;
        close_sources();
    }
}

static bool open_timer(struct error *err)
{
    install(SIGPROF, &sampler.old_prof);
    keeper.has_timer =
        source_timer_open(&keeper.timer, keeper.options.period_ns, err);
    if (!keeper.has_timer)
        uninstall(SIGPROF, &sampler.old_prof);
    return keeper.has_timer;
}

/* Nothing fires before sampler.running is set: the events are disabled, and
 * the handler ignores what a timer sends. */
static bool open_perf(struct error *err)
{
    struct error ignored;
    enum cpu_source source;

    install(SIGTRAP, &sampler.old_trap);
    keeper.has_perf = source_perf_open(&keeper.perf, keeper.options.period_ns,
                                       keeper.options.user_only, &source, err);
    if (!keeper.has_perf) {
        uninstall(SIGTRAP, &sampler.old_trap);
        return false;
    }
    sampler.source = source;
    if (source == CPU_SOURCE_PERF_USER)
        open_timer(&ignored);
    return true;
}

static bool wants_timers(void)
{
    return keeper.options.only_timer ||
           (!keeper.options.only_perf &&
            source_is_switchy(&keeper.load, &keeper.changed_at));
}

/* A child that is forked meanwhile must know which fds to close: fork waits
 * for the lock. */
static bool open_source(struct error *err)
{
    bool ok;

    runtime_lock();
    ok = !wants_timers() && open_perf(err);
    if (!ok && !keeper.options.only_perf) {
        sampler.source = CPU_SOURCE_TIMER;
        ok = open_timer(err);
    }
    runtime_unlock();
    return ok;
}

/* From perf events to timers, while samples are taken.  A thread's account
 * goes on: whichever signal comes next counts from where the last one did. */
static void watch_switches(void)
{
    struct error ignored;

    if (!keeper.has_perf || keeper.options.only_perf || !wants_timers())
        return;
    runtime_lock();
    if (keeper.has_timer || open_timer(&ignored)) {
        sampler.source = CPU_SOURCE_TIMER;
        close_perf();
    }
    runtime_unlock();
}

static void set_state(uint32_t state)
{
    atomic_store(&keeper.state, state);
    raw_futex_wake(&keeper.state);
}

static bool start_source(void)
{
    int warm = -1;

    if (!keeper.options.only_timer) {
        set_state(SOURCE_KERNEL);
        warm = source_perf_warm();
        keeper.warm_fd = warm > 0 ? warm : 0;
        set_state(SOURCE_OPENING);
    }
    if (open_source(&keeper.error)) {
        atomic_store(&sampler.running, true);
        if (keeper.has_perf)
            source_perf_enable(&keeper.perf, true);
        set_state(SOURCE_UP);
    } else {
        set_state(SOURCE_REFUSED);
    }
    keeper.warm_fd = 0;
    if (warm >= 0)
        close(warm);
    return atomic_load(&keeper.state) == SOURCE_UP;
}

static void pause_for(int64_t ns)
{
    struct timespec until = clock_timespec(clock_monotonic_ns() + ns);

    sem_clockwait(&keeper.wake, CLOCK_MONOTONIC, &until);
}

static void *keep(void *arg)
{
    int64_t next_look = 0;
    unsigned busy = 0;

    (void)arg;
    if (!start_source())
        return NULL;
    while (!atomic_load(&keeper.stop)) {
        int64_t now = clock_monotonic_ns();

        watch_handler();
        if (keeper.has_timer && source_timer_scan(&keeper.timer))
            busy = BUSY_LOOKS;
        if (now >= next_look) {
            watch_switches();
            builder_refresh();
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
    uint32_t state = atomic_load(&keeper.state);

    while (state < SOURCE_UP && left > 0) {
        raw_futex_wait(&keeper.state, state,
                       state == SOURCE_KERNEL ? KERNEL_PATIENCE_NS : left);
        left = start + KEEPER_PATIENCE_NS - clock_monotonic_ns();
        if (state == SOURCE_KERNEL &&
            atomic_load(&keeper.state) == SOURCE_KERNEL)
            return true;
        state = atomic_load(&keeper.state);
    }
    if (state == SOURCE_REFUSED)
        *err = keeper.error;
    return state != SOURCE_REFUSED;
}

bool keeper_start(const struct keeper_options *options, struct error *err)
{
    keeper.options = *options;
    keeper.handler_lost = false;
    keeper.changed_at = 0;
    keeper.load = (struct source_load){0};
    sampler.source = CPU_SOURCE_NONE;
    atomic_store(&keeper.stop, false);
    atomic_store(&keeper.state, SOURCE_LATER);
    sem_init(&keeper.wake, 0, 0);
    if (!runtime_thread(&keeper.thread, "pprof-cpu", keep, NULL, err))
        return false;
    atomic_store(&keeper.is_up, true);
    if (wait_for_source(err))
        return true;
    keeper_stop();
    return false;
}

void keeper_stop(void)
{
    if (!atomic_exchange(&keeper.is_up, false))
        return;
    atomic_store(&sampler.running, false);
    atomic_store(&keeper.stop, true);
    sem_post(&keeper.wake);
    pthread_join(keeper.thread, NULL);
    atomic_store(&sampler.running, false); /* it may have just begun */
    close_sources();
}

void keeper_add_comments(struct buf *out)
{
    static const char *const names[] = {
        "none", "perf task-clock (kernel time included)",
        "perf task-clock for user mode, thread CPU timers for the kernel",
        "thread CPU timers (overruns counted)"};

    buf_addf(out, "cpu source: %s\n", names[sampler.source]);
    if (keeper.changed_at > 0)
        buf_addf(out,
                 "no perf events: %.0f thread switches a CPU second make "
                 "them expensive\n",
                 keeper.changed_at);
    if (keeper.timer.failed)
        buf_addf(out, "threads without a timer: %llu\n",
                 (unsigned long long)keeper.timer.failed);
    if (sampler.source == CPU_SOURCE_NONE)
        buf_addf(out, "no samples: %s\n", keeper.error.text);
    if (keeper.handler_lost)
        buf_addf(out, "ended early: the program took the signal over\n");
}

static bool has_timers(void)
{
    return atomic_load(&sampler.running) &&
           (sampler.source == CPU_SOURCE_TIMER ||
            sampler.source == CPU_SOURCE_PERF_USER);
}

void keeper_thread_begin(void)
{
    int64_t first_ns = sigprof_thread_begin();

    if (first_ns && has_timers())
        source_timer_add(&keeper.timer, raw_gettid(), first_ns);
}

void keeper_thread_end(void *(*run)(void *))
{
    if (has_timers())
        source_timer_remove(&keeper.timer, raw_gettid());
    sigprof_thread_end(run);
}

void keeper_after_fork(bool is_whole)
{
    source_timer_after_fork();
    if (keeper.has_perf && is_whole)
        source_perf_close(&keeper.perf); /* timers are not inherited */
    if (keeper.warm_fd > 0)
        close(keeper.warm_fd);
    keeper.warm_fd = 0;
    keeper.has_perf = keeper.has_timer = false;
    keeper.timer.is_open = false;
    atomic_store(&sampler.running, false);
    atomic_store(&keeper.is_up, false);
}
