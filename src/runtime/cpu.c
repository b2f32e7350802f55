#include "runtime/cpu.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/pages.h"
#include "runtime/builder.h"
#include "runtime/labels.h"
#include "runtime/rawcall.h"
#include "runtime/sigprof.h"
#include "runtime/source.h"
#include "runtime/state.h"
#include "runtime/trace.h"
#include "runtime/writer.h"

/* Different stacks of one profile: 16 MB hold 40,000 of 40 frames. */
#define TABLE_SLOTS (1u << 16)
#define TABLE_BYTES (16u << 20)
#define MAX_TICKS   (1u << 18)

/* How often new threads (timers) and new modules are looked for; threads more
 * often for a while when some came or went. */
#define LOOK_NS      100000000
#define BUSY_LOOK_NS 20000000
#define BUSY_LOOKS   50

#define GRACE_NS 2000000000

/* How long the caller waits until samples come: for our thread to run, and
 * for the kernel when this is its first event. */
#define KEEPER_PATIENCE_NS 100000000
#define KERNEL_PATIENCE_NS 2000000

/* How far the keeper is with the source of samples. */
enum { SOURCE_LATER, SOURCE_KERNEL, SOURCE_OPENING, SOURCE_UP, SOURCE_REFUSED };

static struct {
    _Atomic bool in_use;           /* from cpu_start to the end of cpu_stop */
    _Atomic bool is_timeline;      /* and not a profile */
    _Atomic bool is_on;            /* from the end of cpu_start to cpu_stop */
    _Atomic uint32_t source_state; /* a futex */
    struct error source_error;
    int warm_fd; /* of source_perf_warm(), else 0 */
    bool has_perf, has_timer;
    struct source_perf perf;
    struct source_timer timer;
    struct stack_table table;
    pthread_t keeper;
    sem_t keeper_wake;
    _Atomic bool keeper_stop;
    _Atomic bool keeper_is_up;
    int64_t period_ns;
    int64_t start_time_ns, start_ns, start_cpu_ns;
    bool tag_threads;
    bool handler_lost; /* the program took our signal over */
    uint32_t profiles;
    bool has_environment;
    int rate_hz; /* what the environment wants, else the default */
    bool only_perf, only_timer, user_only;
} cpu;

void cpu_read_environment(void)
{
    const char *rate = getenv("PPROF_CPU_RATE");
    const char *source = getenv("PPROF_CPU_SOURCE");
    uint64_t hz;

    if (cpu.has_environment)
        return;
    cpu.has_environment = true;
    cpu.rate_hz = CPU_RATE_DEFAULT;
    if (rate && str_to_u64(str_from(rate), 10, &hz) && hz > 0)
        cpu.rate_hz = hz > CPU_RATE_MAX ? CPU_RATE_MAX : (int)hz;
    cpu.user_only = source && strcmp(source, "perf-user") == 0;
    cpu.only_perf = source && (cpu.user_only || strcmp(source, "perf") == 0);
    cpu.only_timer = source && strcmp(source, "timer") == 0;
}

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

static void close_sources(void)
{
    if (cpu.has_perf) {
        source_perf_enable(&cpu.perf, false);
        source_perf_close(&cpu.perf);
    }
    if (cpu.has_timer)
        source_timer_close(&cpu.timer);
    cpu.has_perf = cpu.has_timer = false;
}

/* Without our handler the next signal would end the program or surprise it:
 * stop at once, and say so in the profile. */
static void watch_handler(void)
{
    if ((cpu.has_perf && !is_installed(SIGTRAP)) ||
        (cpu.has_timer && !is_installed(SIGPROF))) {
        cpu.handler_lost = true;
        close_sources();
    }
}

static void keeper_sleep(int64_t ns)
{
    struct timespec until;

    ns += clock_monotonic_ns();
    until = (struct timespec){ns / 1000000000, ns % 1000000000};
    sem_clockwait(&cpu.keeper_wake, CLOCK_MONOTONIC, &until);
}

static void keeper_join(void)
{
    atomic_store(&cpu.keeper_stop, true);
    sem_post(&cpu.keeper_wake);
    pthread_join(cpu.keeper, NULL);
    atomic_store(&cpu.keeper_is_up, false);
}

static bool open_timer(struct error *err)
{
    install(SIGPROF, &sampler.old_prof);
    cpu.has_timer = source_timer_open(&cpu.timer, cpu.period_ns, err);
    if (!cpu.has_timer)
        uninstall(SIGPROF, &sampler.old_prof);
    return cpu.has_timer;
}

/* Nothing fires before sampler.running is set: the events are disabled, and
 * the handler ignores what a timer sends. */
static bool open_source_locked(struct error *err)
{
    struct error ignored;

    if (!cpu.only_timer) {
        install(SIGTRAP, &sampler.old_trap);
        cpu.has_perf = source_perf_open(&cpu.perf, cpu.period_ns, cpu.user_only,
                                        &sampler.source, err);
        if (cpu.has_perf) {
            if (sampler.source == CPU_SOURCE_PERF_USER)
                open_timer(&ignored);
            return true;
        }
        uninstall(SIGTRAP, &sampler.old_trap);
        if (cpu.only_perf)
            return false;
    }
    sampler.source = CPU_SOURCE_TIMER;
    return open_timer(err);
}

/* A child that is forked meanwhile must know which fds to close: fork waits
 * for the lock. */
static bool open_source(struct error *err)
{
    bool ok;

    runtime_lock();
    ok = open_source_locked(err);
    runtime_unlock();
    return ok;
}

static void set_source_state(uint32_t state)
{
    atomic_store(&cpu.source_state, state);
    raw_futex_wake(&cpu.source_state);
}

/* In the keeper, so that the program does not wait for the kernel. */
static bool start_source(void)
{
    int warm = -1;

    if (!cpu.only_timer) {
        set_source_state(SOURCE_KERNEL);
        warm = source_perf_warm();
        cpu.warm_fd = warm > 0 ? warm : 0;
        set_source_state(SOURCE_OPENING);
    }
    if (open_source(&cpu.source_error)) {
        atomic_store(&sampler.running, true);
        if (cpu.has_perf)
            source_perf_enable(&cpu.perf, true);
        set_source_state(SOURCE_UP);
    } else {
        set_source_state(SOURCE_REFUSED);
    }
    cpu.warm_fd = 0;
    if (warm >= 0)
        close(warm);
    return atomic_load(&cpu.source_state) == SOURCE_UP;
}

/* Where perf is refused that is known at once.  When the kernel takes its
 * time, samples come a little later than we return. */
static bool wait_for_source(struct error *err)
{
    int64_t start = clock_monotonic_ns(), left = KEEPER_PATIENCE_NS;
    uint32_t state = atomic_load(&cpu.source_state);

    while (state < SOURCE_UP && left > 0) {
        raw_futex_wait(&cpu.source_state, state,
                       state == SOURCE_KERNEL ? KERNEL_PATIENCE_NS : left);
        left = start + KEEPER_PATIENCE_NS - clock_monotonic_ns();
        if (state == SOURCE_KERNEL &&
            atomic_load(&cpu.source_state) == SOURCE_KERNEL)
            return true;
        state = atomic_load(&cpu.source_state);
    }
    if (state == SOURCE_REFUSED)
        *err = cpu.source_error;
    return state != SOURCE_REFUSED;
}

/* The thread that keeps threads and modules up to date while a profile runs.
 */
static void *keep(void *arg)
{
    int64_t next_modules = 0;
    unsigned busy = 0;

    (void)arg;
    if (!start_source())
        return NULL;
    while (!atomic_load(&cpu.keeper_stop)) {
        int64_t now = clock_monotonic_ns();

        watch_handler();
        if (cpu.has_timer && source_timer_scan(&cpu.timer))
            busy = BUSY_LOOKS;
        if (now >= next_modules) {
            builder_refresh();
            next_modules = now + LOOK_NS;
        }
        keeper_sleep(busy > 0 ? BUSY_LOOK_NS : LOOK_NS);
        busy -= busy > 0;
    }
    return NULL;
}

static bool begin(const struct cpu_options *options, struct error *err)
{
    if (!stack_table_init(&cpu.table, TABLE_SLOTS, TABLE_BYTES))
        return error_set(err, "out of memory");
    if (!sampler.scratch)
        sampler.scratch = pages_alloc(N_SCRATCH * sizeof(struct scratch));
    sampler.n_ticks = options->timeline ? MAX_TICKS : 0;
    sampler.ticks =
        options->timeline ? pages_alloc(MAX_TICKS * sizeof(struct tick)) : NULL;
    if (!sampler.scratch || (options->timeline && !sampler.ticks))
        return error_set(err, "out of memory");
    return true;
}

static bool start_keeper(struct error *err)
{
    atomic_store(&cpu.keeper_stop, false);
    atomic_store(&cpu.source_state, SOURCE_LATER);
    sem_init(&cpu.keeper_wake, 0, 0);
    if (!runtime_thread(&cpu.keeper, "pprof-cpu", keep, NULL, err))
        return false;
    atomic_store(&cpu.keeper_is_up, true);
    return true;
}

static void end(void)
{
    if (atomic_load(&cpu.keeper_is_up))
        keeper_join();
    stack_table_release(&cpu.table);
    pages_free(sampler.ticks, sampler.n_ticks * sizeof(struct tick));
    sampler.ticks = NULL;
    atomic_store(&cpu.keeper_is_up, false);
    atomic_store(&cpu.in_use, false);
}

static void reset_counts(void)
{
    atomic_store(&sampler.samples, 0);
    atomic_store(&sampler.no_scratch, 0);
    atomic_store(&sampler.next_tick, 0);
    for (int i = 0; i < UNWIND_ENDS; i++)
        atomic_store(&sampler.ends[i], 0);
}

bool cpu_start(const struct cpu_options *options, struct error *err)
{
    int rate;

    if (!runtime_ready(err))
        return false;
    if (atomic_exchange(&cpu.in_use, true))
        return error_set(err, options->timeline && atomic_load(&cpu.is_timeline)
                                  ? "execution tracer already enabled"
                                  : "cpu profiling already in use");
    atomic_store(&cpu.is_timeline, options->timeline);
    cpu_read_environment();
    rate = options->rate_hz > 0 ? options->rate_hz : cpu.rate_hz;
    cpu.period_ns = 1000000000 / (rate > CPU_RATE_MAX ? CPU_RATE_MAX : rate);
    cpu.tag_threads = options->tag_threads && labels_prepare();
    cpu.handler_lost = false;
    if (!begin(options, err)) {
        end();
        return false;
    }
    builder_refresh();
    reset_counts();
    sampler.source = CPU_SOURCE_NONE;
    sampler.table = &cpu.table;
    sampler.period_ns = cpu.period_ns;
    sampler.tag_threads = cpu.tag_threads;
    sampler.profile = ++cpu.profiles;
    cpu.start_time_ns = clock_realtime_ns();
    cpu.start_ns = clock_monotonic_ns();
    cpu.start_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    /* What the caller uses before the first sample belongs to that. */
    pprof_thread.profile = sampler.profile;
    pprof_thread.accounted_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    if (!start_keeper(err) || !wait_for_source(err)) {
        end();
        return false;
    }
    atomic_store(&cpu.is_on, true);
    return true;
}

/* No sample comes after this. */
static bool halt(struct error *err)
{
    bool was = true;

    if (!atomic_compare_exchange_strong(&cpu.is_on, &was, false))
        return error_set(err, "cpu profiling is not running");
    atomic_store(&sampler.running, false);
    keeper_join();
    atomic_store(&sampler.running, false); /* it may have just begun */
    /* The handlers stay: a sample that is on its way when its source closes
     * would else reach the program's handler, or end the program.  They pass
     * on what is not ours. */
    close_sources();
    if (!grace_wait(&runtime.modules.grace, GRACE_NS)) {
        /* A handler that does not come back may still write: let it. */
        cpu.table = (struct stack_table){0};
        end();
        return error_set(err, "cpu profiling: a sample does not end");
    }
    return true;
}

static void add_comments(struct profile_spec *spec, int64_t cpu_ns)
{
    static const char *const names[] = {
        "none", "perf task-clock (kernel time included)",
        "perf task-clock for user mode, thread CPU timers for the kernel",
        "thread CPU timers (overruns counted)"};
    struct buf *c = &spec->comments;

    buf_addf(c, "cpu source: %s\n", names[sampler.source]);
    buf_addf(c, "cpu time of the process: %lld ns\n", (long long)cpu_ns);
    buf_addf(c,
             "stacks: %llu complete, %llu truncated, %llu without unwind "
             "data, %llu broken\n",
             (unsigned long long)sampler.ends[UNWIND_COMPLETE],
             (unsigned long long)sampler.ends[UNWIND_TRUNCATED],
             (unsigned long long)sampler.ends[UNWIND_NO_DATA],
             (unsigned long long)sampler.ends[UNWIND_BAD_FRAME]);
    buf_addf(c, "dropped samples: %llu\n",
             (unsigned long long)(sampler.no_scratch + cpu.table.refused));
    if (cpu.timer.failed)
        buf_addf(c, "threads without a timer: %llu\n",
                 (unsigned long long)cpu.timer.failed);
    if (sampler.source == CPU_SOURCE_NONE)
        buf_addf(c, "no samples: %s\n", cpu.source_error.text);
    if (cpu.handler_lost)
        buf_addf(c, "ended early: the program took the signal over\n");
}

bool cpu_stop(struct buf *out, struct error *err)
{
    struct profile_spec spec = {
        .types = {{"samples", "count"}, {"cpu", "nanoseconds"}},
        .n_types = 2,
        .period_type = {"cpu", "nanoseconds"},
        .period = cpu.period_ns,
        .time_ns = cpu.start_time_ns,
        .second_is_first_times = cpu.period_ns,
        .has_label_tags = true,
        .comments = BUF_INIT(4096)};
    bool ok = true;

    if (!halt(err))
        return false;
    spec.duration_ns = clock_monotonic_ns() - cpu.start_ns;
    if (out) {
        add_comments(&spec,
                     clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu.start_cpu_ns);
        ok = profile_write(&spec, &cpu.table, out, err);
    }
    buf_release(&spec.comments);
    end();
    return ok;
}

bool cpu_stop_trace(struct buf *out, struct error *err)
{
    uint64_t n;
    bool ok;

    if (!halt(err))
        return false;
    n = atomic_load(&sampler.next_tick);
    ok = trace_write(sampler.ticks, n < sampler.n_ticks ? n : sampler.n_ticks,
                     &cpu.table, cpu.period_ns, out, err);
    end();
    return ok;
}

static bool has_timers(void)
{
    return atomic_load(&sampler.running) &&
           (sampler.source == CPU_SOURCE_TIMER ||
            sampler.source == CPU_SOURCE_PERF_USER);
}

void cpu_thread_begin(void)
{
    int64_t first_ns = sigprof_thread_begin();

    if (first_ns && has_timers())
        source_timer_add(&cpu.timer, raw_gettid(), first_ns);
}

void cpu_thread_end(void *(*run)(void *))
{
    if (has_timers())
        source_timer_remove(&cpu.timer, raw_gettid());
    sigprof_thread_end(run);
}

bool cpu_is_running(void)
{
    return atomic_load(&cpu.in_use);
}

void cpu_after_fork(void)
{
    source_timer_after_fork();
    if (cpu.has_perf)
        source_perf_close(&cpu.perf); /* timers are not inherited */
    if (cpu.warm_fd > 0)
        close(cpu.warm_fd);
    cpu.warm_fd = 0;
    cpu.has_perf = cpu.has_timer = false;
    atomic_store(&sampler.running, false);
    atomic_store(&cpu.is_on, false);
    atomic_store(&cpu.keeper_is_up, false);
    /* The table is the parent's; its memory is given up, not shared. */
    cpu.table = (struct stack_table){0};
    if (sampler.scratch)
        memset(sampler.scratch, 0, N_SCRATCH * sizeof(struct scratch));
    atomic_store(&cpu.in_use, false);
}
