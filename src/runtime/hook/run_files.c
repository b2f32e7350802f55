/*
 * Starting and writing the profiles of a whole run.
 *
 * The CPU and the wall profile run from start to end.  Heap, block and mutex
 * profiles are counted all the time, so they are simply taken at the end.
 */
#include "runtime/hook/run_files.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/str.h"
#include "runtime/cpu/cpu.h"
#include "runtime/cpu/sigprof.h"
#include "runtime/say.h"
#include "runtime/heap/heap.h"
#include "runtime/heap/heap_profile.h"
#include "runtime/lock/locks.h"
#include "runtime/profiles.h"
#include "runtime/thread/wall.h"

#define MAX_PROFILE_BYTES (256u << 20)
#define MAX_SUFFIX        32
#define MS                1e6

enum run_file { FILE_CPU, FILE_HEAP, FILE_WALL, FILE_BLOCK, FILE_MUTEX, FILES };

static const struct {
    const char *variable, *what;
} kinds[FILES] = {
    [FILE_CPU] = {"PPROF_CPUPROFILE", "CPU"},
    [FILE_HEAP] = {"PPROF_HEAPPROFILE", "heap"},
    [FILE_WALL] = {"PPROF_WALLPROFILE", "wall"},
    [FILE_BLOCK] = {"PPROF_BLOCKPROFILE", "block"},
    [FILE_MUTEX] = {"PPROF_MUTEXPROFILE", "mutex"},
};

static struct {
    char names[FILES][PATH_MAX]; /* absolute, %p not expanded; "": none */
    bool has_failed[FILES];      /* could not be written, which was said */
    bool children, is_verbose;
    bool toggles;
    _Atomic bool has_forked;
    bool has_cpu, has_wall; /* is running */
    unsigned n_toggled;     /* profiles written between two signals */
    unsigned n_heaps;       /* heap profiles written at intervals */
    int64_t interval_ns;    /* between them, 0: none */
    unsigned execs;
    int64_t start_ns, start_cpu_ns;
} run;

static void keep_name(enum run_file kind)
{
    const char *value = getenv(kinds[kind].variable);
    char *to = run.names[kind];
    size_t n = 0;

    if (!value || !*value)
        return;
    if (value[0] != '/') {
        if (!getcwd(to, PATH_MAX - 1))
            to[0] = '\0';
        n = strlen(to);
        to[n++] = '/';
    }
    if (snprintf(to + n, PATH_MAX - n, "%s", value) < (int)(PATH_MAX - n))
        return;
    to[0] = '\0';
    say_note("no %s profile: the file name is too long", kinds[kind].what);
}

void run_files_read_environment(bool children, bool is_verbose)
{
    const char *execs = getenv("PPROF_EXECS");
    const char *interval = getenv("PPROF_HEAP_INTERVAL");
    uint64_t n;

    run.children = children;
    run.is_verbose = is_verbose;
    for (unsigned i = 0; i < FILES; i++)
        keep_name(i);
    if (execs && str_to_u64(str_from(execs), 10, &n))
        run.execs = (unsigned)n;
    if (interval && str_to_u64(str_from(interval), 10, &n) && n <= 86400)
        run.interval_ns = (int64_t)n * SECOND;
}

void run_files_note_fork(void)
{
    atomic_store(&run.has_forked, true);
}

bool run_files_any(void)
{
    for (unsigned i = 0; i < FILES; i++)
        if (run.names[i][0])
            return true;
    return false;
}

unsigned run_files_execs(void)
{
    return run.execs;
}

/* Every "%p" of the name becomes the process id. */
static bool make_path(enum run_file kind, const char *suffix, struct buf *out)
{
    struct str rest = str_from(run.names[kind]);
    bool has_pid = false;
    ptrdiff_t at;

    while ((at = str_find(rest, STR("%p"))) >= 0) {
        buf_add(out, str_first(rest, (size_t)at));
        buf_addf(out, "%d", (int)getpid());
        rest = str_skip(rest, (size_t)at + 2);
        has_pid = true;
    }
    buf_add(out, rest);
    if (run.children && !has_pid)
        buf_addf(out, ".%d", (int)getpid());
    buf_addf(out, "%s", suffix);
    return buf_cstr(out) && buf_ok(out);
}

static void write_file(enum run_file kind, const char *suffix,
                       const struct buf *profile)
{
    struct buf path = BUF_INIT(PATH_MAX + MAX_SUFFIX);
    struct error err;

    run.has_failed[kind] = true;
    if (!make_path(kind, suffix, &path))
        say_note("cannot write the %s profile: the file name is too long",
                 kinds[kind].what);
    else if (!file_write(buf_cstr(&path), buf_str(profile), &err))
        say_note("cannot write the %s profile: %s", kinds[kind].what, err.text);
    else
        run.has_failed[kind] = false;
    if (run.is_verbose && !run.has_failed[kind])
        say_note("wrote %s", buf_cstr(&path));
    buf_release(&path);
}

static void start_cpu(void)
{
    struct error err;

    run.start_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    run.has_cpu =
        cpu_start(&(struct cpu_options){.reader = CPU_RUN_FILE}, &err);
    if (!run.has_cpu)
        say_note("no CPU profile: %s", err.text);
}

static double children_seconds(void)
{
    struct rusage u;

    if (run.children || getrusage(RUSAGE_CHILDREN, &u) != 0)
        return 0;
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

/* An empty CPU profile is nearly always a surprise, so say why. */
static void explain_no_samples(void)
{
    double used =
        (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - run.start_cpu_ns);
    double period = (double)sampler.period_ns, others = children_seconds();
    char more[128] = "";

    if (others > 0.01)
        snprintf(more, sizeof(more),
                 "; its child processes used %.2f s: add -children "
                 "(PPROF_CHILDREN=1) to profile them",
                 others);
    else if (run.has_forked && !run.children)
        snprintf(more, sizeof(more),
                 "; it has forked: add -children (PPROF_CHILDREN=1) to "
                 "profile its child processes");
    if (used < 4 * period)
        say_note("the CPU profile is empty: the process used %.1f ms of CPU "
                 "time, and a sample is taken every %.1f ms%s",
                 used / MS, period / MS, more);
    else
        say_note("the CPU profile is empty: no timer signal arrived in %.0f ms "
                 "of CPU time%s",
                 used / MS, more);
}

/* Whoever profiles a shell wants to know about the commands. */
static void explain_children(void)
{
    double used =
        (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - run.start_cpu_ns) / 1e9;
    double others = children_seconds();

    if (others > 0.1 && others > used)
        say_note("the CPU profile has %.2f s of the process; its child "
                 "processes used %.2f s: add -children (PPROF_CHILDREN=1) to "
                 "profile them",
                 used, others);
}

static void write_cpu(const char *suffix, enum run_moment moment)
{
    struct buf out = BUF_INIT(MAX_PROFILE_BYTES);
    struct error err;
    bool ok = cpu_stop(CPU_RUN_FILE, &out, &err);
    bool is_empty = cpu_samples(CPU_RUN_FILE) == 0;

    run.has_cpu = false;
    if (!ok)
        say_note("no CPU profile: %s", err.text);
    else if (moment == RUN_ENDS || !is_empty)
        write_file(FILE_CPU, suffix, &out);
    if (ok && is_empty && moment == RUN_ENDS)
        explain_no_samples();
    else if (ok && moment == RUN_ENDS)
        explain_children();
    buf_release(&out);
}

static void write_wall(const char *suffix, enum run_moment moment)
{
    struct buf out = BUF_INIT(MAX_PROFILE_BYTES);
    struct error err;
    bool is_short =
        clock_monotonic_ns() - run.start_ns < SECOND / WALL_HZ_DEFAULT;

    run.has_wall = false;
    if (!wall_stop(WALL_RUN_FILE, &out, &err))
        say_note("no wall profile: %s", err.text);
    else if (moment == RUN_ENDS || !is_short)
        write_file(FILE_WALL, suffix, &out);
    buf_release(&out);
}

static bool write_run_heap(struct buf *out, struct error *err)
{
    struct snapshot s = {0};
    bool ok = heap_take_run(&s, err) && snapshot_write(&s, out, err);

    snapshot_release(&s);
    return ok;
}

static void write_snapshot(enum run_file kind, const char *suffix,
                           enum run_moment moment)
{
    const struct profile_kind *profile =
        profiles_find(str_from(kinds[kind].what));
    struct buf out = BUF_INIT(MAX_PROFILE_BYTES);
    struct error err;

    if (moment != RUN_ENDS && profiles_count(profile) == 0)
        return;
    if (kind == FILE_HEAP ? write_run_heap(&out, &err)
                          : profiles_write(profile, 0, &out, &err))
        write_file(kind, suffix, &out);
    else
        say_note("no %s profile: %s", kinds[kind].what, err.text);
    buf_release(&out);
}

/* Without a rate everything is recorded, as with Go's test flags. */
static void start_waits(void)
{
    struct error err;

    if (run.names[FILE_BLOCK][0] && !getenv("PPROF_BLOCK_RATE") &&
        !locks_set_block_rate(1, &err))
        say_note("no block profile: %s", err.text);
    if (run.names[FILE_MUTEX][0] && !getenv("PPROF_MUTEX_FRACTION") &&
        !locks_set_mutex_fraction(1, &err))
        say_note("no mutex profile: %s", err.text);
}

static void start_wall(void)
{
    struct error err;

    run.start_ns = clock_monotonic_ns();
    run.has_wall =
        wall_start(&(struct wall_options){.reader = WALL_RUN_FILE}, &err);
    if (!run.has_wall)
        say_note("no wall profile: %s", err.text);
}

static void start_heap(void)
{
    struct error err;

    if (heap_start(&err))
        return;
    say_note("no heap profile: %s", err.text);
    run.names[FILE_HEAP][0] = '\0';
}

void run_files_start(bool toggles)
{
    run.toggles = toggles;
    if (access("/proc/self/maps", R_OK) != 0) {
        if (run_files_any())
            say_note("no profiles: /proc is not mounted");
        memset(run.names, 0, sizeof(run.names));
    }
    if (run.names[FILE_CPU][0] && !toggles)
        start_cpu();
    if (run.names[FILE_WALL][0])
        start_wall();
    if (run.names[FILE_HEAP][0])
        start_heap();
    start_waits();
}

void run_files_toggle(void)
{
    char suffix[MAX_SUFFIX];

    if (!run.has_cpu) {
        start_cpu();
        return;
    }
    snprintf(suffix, sizeof(suffix), ".%u", run.n_toggled++);
    write_cpu(suffix, RUN_ENDS);
}

/* A heap profile that has no sample says so, and what would change it. */
static void explain_no_allocations(void)
{
    const char *off = heap_switched_off();

    if (off)
        say_note("the heap profile is empty: %s", off);
    else if (heap_rate() > 1)
        say_note("the heap profile is empty: no allocation was sampled, one "
                 "is every %llu bytes on average; -memrate 1 "
                 "(PPROF_MEM_RATE=1) records all",
                 (unsigned long long)heap_rate());
    else
        say_note("the heap profile is empty: nothing was allocated");
}

static void explain_no_signal(void)
{
    say_note("no CPU profile: the signal that starts it (-signal, "
             "PPROF_CPUPROFILE_SIGNAL) did not come");
}

static void write_all(enum run_moment moment, const char *suffix)
{
    char numbered[MAX_SUFFIX];

    if (run.has_cpu && run.toggles) {
        snprintf(numbered, sizeof(numbered), ".%u", run.n_toggled++);
        write_cpu(numbered, moment);
    } else if (run.has_cpu) {
        write_cpu(suffix, moment);
    }
    if (run.toggles && run.n_toggled == 0 && moment == RUN_ENDS &&
        !run.children)
        explain_no_signal();
    if (run.has_wall)
        write_wall(suffix, moment);
    for (enum run_file i = 0; i < FILES; i++)
        if (run.names[i][0] && i != FILE_CPU && i != FILE_WALL)
            write_snapshot(i, suffix, moment);
    if (run.names[FILE_HEAP][0] && moment == RUN_ENDS &&
        !run.has_failed[FILE_HEAP] && atomic_load(&heap.samples) == 0)
        explain_no_allocations();
}

void run_files_write(enum run_moment moment, const char *next)
{
    char suffix[MAX_SUFFIX] = "";

    if (moment == RUN_EXECS)
        snprintf(suffix, sizeof(suffix), ".exec%u", run.execs + 1);
    if (next && run.is_verbose)
        say_note("becomes %s", next);
    write_all(moment, suffix);
}

int64_t run_files_interval_ns(void)
{
    return run.names[FILE_HEAP][0] ? run.interval_ns : 0;
}

void run_files_write_heap(void)
{
    char suffix[MAX_SUFFIX];

    snprintf(suffix, sizeof(suffix), ".%u", ++run.n_heaps);
    write_snapshot(FILE_HEAP, suffix, RUN_ENDS);
}

void run_files_restart(void)
{
    run.has_cpu = run.has_wall = false;
    run.n_toggled = run.n_heaps = 0;
    run_files_start(run.toggles);
}
