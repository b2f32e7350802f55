#include "runtime/cpu.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/pages.h"
#include "runtime/builder.h"
#include "runtime/keeper.h"
#include "runtime/labels.h"
#include "runtime/sigprof.h"
#include "runtime/state.h"
#include "runtime/trace.h"
#include "runtime/writer.h"

/* Different stacks of one profile: 16 MB hold 40,000 of 40 frames. */
#define TABLE_SLOTS (1u << 16)
#define TABLE_BYTES (16u << 20)
#define MAX_TICKS   (1u << 18)

#define GRACE_NS 2000000000

static struct {
    _Atomic bool in_use;      /* from cpu_start to the end of cpu_stop */
    _Atomic bool is_timeline; /* and not a profile */
    _Atomic bool is_on;       /* from the end of cpu_start to cpu_stop */
    struct stack_table table;
    int64_t period_ns;
    int64_t start_time_ns, start_ns, start_cpu_ns;
    bool tag_threads;
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

static void end(void)
{
    stack_table_release(&cpu.table);
    pages_free(sampler.ticks, sampler.n_ticks * sizeof(struct tick));
    sampler.ticks = NULL;
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
    if (!begin(options, err)) {
        end();
        return false;
    }
    builder_refresh();
    reset_counts();
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
    if (!keeper_start(&(struct keeper_options){cpu.period_ns, cpu.only_perf,
                                               cpu.only_timer, cpu.user_only},
                      err)) {
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
    keeper_stop();
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
    struct buf *c = &spec->comments;

    keeper_add_comments(c);
    buf_addf(c, "cpu time of the process: %lld ns\n", (long long)cpu_ns);
    buf_addf(c,
             "stacks: %llu complete, %llu truncated, %llu without unwind "
             "data, %llu broken\n",
             (unsigned long long)sampler.ends[UNWIND_COMPLETE],
             (unsigned long long)sampler.ends[UNWIND_TRUNCATED],
             (unsigned long long)sampler.ends[UNWIND_NO_DATA],
             (unsigned long long)sampler.ends[UNWIND_BAD_FRAME]);
    buf_addf(c, "dropped samples: %llu\n",
             (unsigned long long)sampler.no_scratch + cpu.table.refused);
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

bool cpu_is_running(void)
{
    return atomic_load(&cpu.in_use);
}

void cpu_after_fork(bool is_whole)
{
    keeper_after_fork(is_whole);
    atomic_store(&cpu.is_on, false);
    /* The table is the parent's; its memory is given up, not shared. */
    cpu.table = (struct stack_table){0};
    if (sampler.scratch)
        memset(sampler.scratch, 0, N_SCRATCH * sizeof(struct scratch));
    atomic_store(&cpu.in_use, false);
}
