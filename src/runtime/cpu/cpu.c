/*
 * The life of a CPU profile: memory, the sampling thread that makes samples
 * come, and what is written at the end.  The samples themselves are taken by
 * the signal handler (sigprof.c), which sees only what is put into `sampler`
 * here before the sampling thread sets `running`.
 *
 * The first reader starts the sampling thread, the last one ends it; in
 * between they share its samples (table_readers.h).  What a reader has
 * measured is taken out under the lock and written after it, because writing
 * takes longer than a client wants to wait for the next profile.
 */
#include "runtime/cpu/cpu.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/pages.h"
#include "runtime/cpu/sampling_thread.h"
#include "runtime/cpu/sigprof.h"
#include "runtime/cpu/trace.h"
#include "runtime/state.h"
#include "runtime/thread/strip_threads.h"
#include "runtime/thread/thread_labels.h"
#include "runtime/unwind/table_builder.h"
#include "runtime/unwind/table_readers.h"
#include "runtime/write/writer.h"

/* Different stacks of one profile: 16 MB hold 40,000 of 40 frames. */
#define TABLE_SLOTS (1u << 16)
#define TABLE_BYTES (16u << 20)
#define MAX_TICKS   (1u << 18)

#define GRACE_NS 2000000000

_Static_assert((int)CPU_READERS == TABLE_READERS, "one place for each");

/* What the handlers have counted since the sampling thread was started. */
struct counts {
    uint64_t samples, dropped;
    uint64_t ends[UNWIND_ENDS];
};

/* A reader's profile.  is_on may be read without the lock. */
struct reading {
    _Atomic bool is_on;
    bool is_timeline, tag_threads;
    int64_t start_time_ns, start_ns, start_cpu_ns;
    struct counts before; /* at its start */
    uint64_t samples;     /* of the last one */
};

/* What a reader takes with it, to be written without the lock. */
struct taken {
    struct profile_spec spec;
    struct stack_table table;
};

static struct {
    pthread_mutex_t lock;
    struct reading readings[CPU_READERS];
    struct table_readers tables;
    bool was_tagged; /* some samples have their thread */
    int64_t period_ns;
    uint32_t profiles;
    bool has_environment;
    int rate_hz; /* what the environment wants, else the default */
    bool only_perf, only_timer, user_only;
} cpu = {.lock = PTHREAD_MUTEX_INITIALIZER};

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

bool cpu_insists_on_timers(void)
{
    cpu_read_environment();
    return cpu.only_timer;
}

/* --- samples, while anybody reads them ----------------------------------- */

static struct counts count(void)
{
    struct counts c = {.samples = atomic_load(&sampler.samples),
                       .dropped = atomic_load(&sampler.no_scratch) +
                                  table_readers_refused(&cpu.tables)};

    for (int i = 0; i < UNWIND_ENDS; i++)
        c.ends[i] = atomic_load(&sampler.ends[i]);
    return c;
}

static void reset_counts(void)
{
    atomic_store(&sampler.samples, 0);
    atomic_store(&sampler.no_scratch, 0);
    for (int i = 0; i < UNWIND_ENDS; i++)
        atomic_store(&sampler.ends[i], 0);
    cpu.was_tagged = false;
}

/* With the table, before any reader. */
static bool start_sampling(struct error *err)
{
    table_builder_refresh();
    reset_counts();
    atomic_store(&sampler.table, table_readers_live(&cpu.tables));
    sampler.period_ns = cpu.period_ns;
    sampler.profile = ++cpu.profiles;
    sigprof_begin_here();
    return sampling_thread_start(
        &(struct sampling_thread_options){cpu.period_ns, cpu.only_perf,
                                          cpu.only_timer, cpu.user_only},
        err);
}

/* No sample comes after this. */
static bool stop_sampling(struct error *err)
{
    sampling_thread_stop();
    assert(!atomic_load(&sampler.running));
    if (grace_wait(&runtime.modules.grace, GRACE_NS))
        return true;
    /* A handler that does not come back may still write: let it. */
    table_readers_abandon(&cpu.tables);
    for (unsigned i = 0; i < CPU_READERS; i++)
        atomic_store(&cpu.readings[i].is_on, false);
    return error_set(err, "cpu profiling: a sample does not end");
}

/* A timeline refers to places in the table. */
static void turn_table(void)
{
    struct stack_table *next =
        atomic_load(&sampler.ticks) ? NULL : table_readers_next(&cpu.tables);

    if (!next)
        return;
    atomic_store(&sampler.table, next);
    if (!grace_wait(&runtime.modules.grace, GRACE_NS)) {
        /* A handler still uses the old one: back to it. */
        atomic_store(&sampler.table, table_readers_live(&cpu.tables));
        return;
    }
    table_readers_turn(&cpu.tables);
}

static void tag_threads(void)
{
    bool wanted = false;

    for (unsigned i = 0; i < CPU_READERS; i++)
        wanted |=
            atomic_load(&cpu.readings[i].is_on) && cpu.readings[i].tag_threads;
    atomic_store(&sampler.tag_threads, wanted);
    cpu.was_tagged |= wanted;
}

/* --- starting ------------------------------------------------------------- */

static bool refuse(const struct cpu_options *options, struct error *err)
{
    return error_set(err,
                     options->timeline && cpu.readings[CPU_ASKED].is_timeline
                         ? "execution tracer already enabled"
                         : "cpu profiling already in use");
}

static int64_t period_for(const struct cpu_options *options)
{
    int rate = options->rate_hz > 0 ? options->rate_hz : cpu.rate_hz;

    return 1000000000 / (rate > CPU_RATE_MAX ? CPU_RATE_MAX : rate);
}

static bool start_timeline(struct error *err)
{
    struct tick *ticks = pages_alloc(MAX_TICKS * sizeof(*ticks));

    if (!ticks)
        return error_set(err, "out of memory");
    sampler.n_ticks = MAX_TICKS;
    atomic_store(&sampler.next_tick, 0);
    atomic_store(&sampler.ticks, ticks);
    return true;
}

static struct tick *end_timeline(void)
{
    return atomic_exchange(&sampler.ticks, NULL);
}

static bool begin(struct error *err)
{
    if (!sampler.scratch)
        sampler.scratch = pages_alloc(N_SCRATCH * sizeof(struct scratch));
    return (sampler.scratch &&
            table_readers_begin(&cpu.tables, TABLE_SLOTS, TABLE_BYTES)) ||
           error_set(err, "out of memory");
}

/* Joins, and starts sampling if that is the first one. */
static bool join(const struct cpu_options *options, struct error *err)
{
    bool is_first = !table_readers_any(&cpu.tables);

    if (is_first)
        cpu.period_ns = period_for(options);
    else if (options->rate_hz > 0 && period_for(options) != cpu.period_ns)
        return error_set(err,
                         "cpu profiling already in use, at %lld samples "
                         "a second",
                         (long long)(1000000000 / cpu.period_ns));
    if (is_first && !begin(err))
        return false;
    if (!table_readers_join(&cpu.tables, options->reader))
        return error_set(err, "out of memory");
    return (!options->timeline || start_timeline(err)) &&
           (!is_first || start_sampling(err));
}

/* Undoes a join that failed half-way. */
static void unjoin(enum cpu_reader reader)
{
    struct stack_table ignored;
    bool is_shared = table_readers_others(&cpu.tables, reader);

    pages_free(reader == CPU_ASKED ? end_timeline() : NULL,
               MAX_TICKS * sizeof(struct tick));
    if (!is_shared)
        table_readers_release(&cpu.tables);
    else if (cpu.tables.readers[reader].is_on &&
             table_readers_leave(&cpu.tables, reader, &ignored))
        stack_table_release(&ignored);
}

static void note_start(struct reading *r)
{
    r->before = count();
    r->start_time_ns = clock_realtime_ns();
    r->start_ns = clock_monotonic_ns();
    r->start_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* With the lock. */
static bool start(const struct cpu_options *options, struct error *err)
{
    struct reading *r = &cpu.readings[options->reader];

    if (atomic_load(&r->is_on))
        return refuse(options, err);
    cpu_read_environment();
    r->is_timeline = options->timeline;
    r->tag_threads = options->tag_threads && labels_prepare();
    if (r->tag_threads) {
        atomic_store(&sampler.tag_threads, true);
        cpu.was_tagged = true;
    }
    if (!join(options, err)) {
        unjoin(options->reader);
        tag_threads();
        return false;
    }
    atomic_store(&r->is_on, true);
    note_start(r);
    tag_threads();
    return true;
}

bool cpu_start(const struct cpu_options *options, struct error *err)
{
    bool ok;

    assert(!options->timeline || options->reader == CPU_ASKED);
    if (!runtime_ready(err))
        return false;
    pthread_mutex_lock(&cpu.lock);
    ok = start(options, err);
    pthread_mutex_unlock(&cpu.lock);
    return ok;
}

/* --- ending --------------------------------------------------------------- */

static void add_comments(struct buf *c, const struct counts *now,
                         const struct counts *before, int64_t cpu_ns)
{
    uint64_t ends[UNWIND_ENDS];

    for (int i = 0; i < UNWIND_ENDS; i++)
        ends[i] = now->ends[i] - before->ends[i];
    sampling_thread_add_comments(c);
    buf_addf(c, "cpu time of the process: %lld ns\n", (long long)cpu_ns);
    buf_addf(c,
             "stacks: %llu complete, %llu truncated, %llu without unwind "
             "data, %llu broken\n",
             (unsigned long long)ends[UNWIND_COMPLETE],
             (unsigned long long)ends[UNWIND_TRUNCATED],
             (unsigned long long)ends[UNWIND_NO_DATA],
             (unsigned long long)ends[UNWIND_BAD_FRAME]);
    buf_addf(c, "dropped samples: %llu\n",
             (unsigned long long)(now->dropped - before->dropped));
}

/* The description of what the reader has measured until now. */
static void describe(struct reading *r, struct profile_spec *spec)
{
    struct counts now = count();

    *spec = (struct profile_spec){
        .types = {{"samples", "count"}, {"cpu", "nanoseconds"}},
        .n_types = 2,
        .period_type = {"cpu", "nanoseconds"},
        .period = cpu.period_ns,
        .time_ns = r->start_time_ns,
        .duration_ns = clock_monotonic_ns() - r->start_ns,
        .second_is_first_times = cpu.period_ns,
        .has_label_tags = true,
        .comments = BUF_INIT(4096)};
    add_comments(&spec->comments, &now, &r->before,
                 clock_ns(CLOCK_PROCESS_CPUTIME_ID) - r->start_cpu_ns);
    r->samples = now.samples - r->before.samples;
}

/* With the lock: what the reader has, and its end unless `goes_on`. */
static bool take(enum cpu_reader reader, bool goes_on, struct taken *out,
                 struct error *err)
{
    struct reading *r = &cpu.readings[reader];
    bool is_last = !table_readers_others(&cpu.tables, reader), ok;
    /* A timeline refers to places in the table, and shows no labels. */
    bool strips = cpu.was_tagged && !r->tag_threads && !r->is_timeline;

    if (!atomic_load(&r->is_on))
        return error_set(err, "cpu profiling is not running");
    if (!goes_on && is_last && !stop_sampling(err))
        return false;
    describe(r, &out->spec);
    if (goes_on)
        ok = table_readers_slice(&cpu.tables, reader, &out->table);
    else
        ok = table_readers_leave(&cpu.tables, reader, &out->table);
    atomic_store(&r->is_on, goes_on);
    r->is_timeline = false;
    tag_threads();
    if (goes_on)
        note_start(r);
    if (goes_on || !is_last)
        turn_table();
    if (ok && strips)
        ok = labels_strip_threads(&out->table);
    return ok || error_set(err, "out of memory");
}

static bool take_locked(enum cpu_reader reader, bool goes_on, struct taken *out,
                        struct error *err)
{
    bool ok;

    *out = (struct taken){0};
    pthread_mutex_lock(&cpu.lock);
    ok = take(reader, goes_on, out, err);
    pthread_mutex_unlock(&cpu.lock);
    return ok;
}

static void taken_release(struct taken *t)
{
    buf_release(&t->spec.comments);
    stack_table_release(&t->table);
}

static bool take_and_write(enum cpu_reader reader, bool goes_on,
                           struct buf *out, struct error *err)
{
    struct taken t;
    bool ok = take_locked(reader, goes_on, &t, err) &&
              (!out || profile_write(&t.spec, &t.table, out, err));

    taken_release(&t);
    return ok;
}

bool cpu_stop(enum cpu_reader reader, struct buf *out, struct error *err)
{
    assert(!cpu.readings[reader].is_timeline);
    return take_and_write(reader, false, out, err);
}

bool cpu_slice(enum cpu_reader reader, struct buf *out, struct error *err)
{
    return take_and_write(reader, true, out, err);
}

bool cpu_stop_trace(struct buf *out, struct error *err)
{
    struct tick *ticks;
    struct taken t;
    uint64_t n;
    bool ok;

    pthread_mutex_lock(&cpu.lock);
    ticks = end_timeline();
    if (ticks && !grace_wait(&runtime.modules.grace, GRACE_NS))
        ticks = NULL; /* somebody may still write there */
    n = atomic_load(&sampler.next_tick);
    pthread_mutex_unlock(&cpu.lock);
    ok = take_locked(CPU_ASKED, false, &t, err) &&
         (ticks || error_set(err, "cpu profiling: a sample does not end"));
    ok = ok && trace_write(ticks, n < MAX_TICKS ? n : MAX_TICKS, &t.table,
                           t.spec.period, out, err);
    pages_free(ticks, MAX_TICKS * sizeof(*ticks));
    taken_release(&t);
    return ok;
}

bool cpu_is_running(enum cpu_reader reader)
{
    return atomic_load(&cpu.readings[reader].is_on);
}

uint64_t cpu_samples(enum cpu_reader reader)
{
    return cpu.readings[reader].samples;
}

void cpu_after_fork(bool locked)
{
    static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;

    sampling_thread_after_fork(locked);
    cpu.lock = fresh;
    for (unsigned i = 0; i < CPU_READERS; i++)
        atomic_store(&cpu.readings[i].is_on, false);
    /* The tables are the parent's; their memory is given up, not shared. */
    table_readers_abandon(&cpu.tables);
    atomic_store(&sampler.ticks, NULL);
    if (sampler.scratch)
        memset(sampler.scratch, 0, N_SCRATCH * sizeof(struct scratch));
}
