#include "runtime/env.h"

#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/str.h"
#include "runtime/cpu.h"
#include "runtime/heap.h"
#include "runtime/locks.h"
#include "runtime/profiles.h"
#include "runtime/rawcall.h"
#include "runtime/say.h"
#include "runtime/serve.h"
#include "runtime/sigprof.h"
#include "runtime/state.h"
#include "runtime/wall.h"

#define MAX_PROFILE_BYTES (256u << 20)

static struct {
    char file[512], heap_file[512], block_file[512], mutex_file[512];
    char wall_file[512];
    bool is_running; /* a profile of ours */
    bool toggles;
    unsigned n_written;
    sem_t toggle; /* posted by the signal's handler */
    pid_t pid;    /* whose this is: a forked child writes nothing */
    bool debug, children;
    bool has_end;            /* a thread waits for _exit */
    _Atomic uint32_t ending; /* enum ending; a futex */
} env;

/* What the thread that writes for _exit is at. */
enum ending { ENDING_NOT, ENDING_ASKED, ENDING_DONE };

/* A profile is written in some ten milliseconds; a program that interrupted
 * the allocator to end shall not hang. */
#define ENDING_PATIENCE_NS 3000000000

static void say(const char *what, const char *detail)
{
    char text[1024];

    snprintf(text, sizeof(text), "pprof: %.100s%s%.900s\n", what,
             detail[0] ? ": " : "", detail);
    if (env.debug)
        say_line(str_from(text));
}

/* "%p" becomes the process id; a number that is not negative is appended. */
static void file_name(const char *pattern, int number, char *out, size_t size)
{
    const char *p = strstr(pattern, "%p");
    char suffix[16] = "";

    if (number >= 0)
        snprintf(suffix, sizeof(suffix), ".%d", number);
    else if (env.children && !p)
        snprintf(suffix, sizeof(suffix), ".%d", (int)getpid());
    if (p)
        snprintf(out, size, "%.*s%d%s%s", (int)(p - pattern), pattern,
                 (int)getpid(), p + 2, suffix);
    else
        snprintf(out, size, "%s%s", pattern, suffix);
}

static void start_profile(void)
{
    struct error err;

    env.is_running = cpu_start(&(struct cpu_options){0}, &err);
    if (!env.is_running)
        say("cannot start the CPU profile", err.text);
}

static void stop_profile(void)
{
    struct buf out = BUF_INIT(MAX_PROFILE_BYTES);
    struct error err;
    char path[640];

    env.is_running = false;
    file_name(env.file, env.toggles ? (int)env.n_written : -1, path,
              sizeof(path));
    env.n_written++;
    if (!cpu_stop(&out, &err) || !file_write(path, buf_str(&out), &err))
        say("cannot write the CPU profile", err.text);
    else
        say("wrote", path);
    buf_release(&out);
}

static void on_toggle(int sig)
{
    int saved = errno;

    (void)sig;
    sem_post(&env.toggle);
    errno = saved;
}

static void *toggle_loop(void *arg)
{
    (void)arg;
    for (;;) {
        while (sem_wait(&env.toggle) != 0)
            ;
        if (env.is_running)
            stop_profile();
        else
            start_profile();
    }
    return NULL;
}

static int signal_number(const char *text)
{
    static const struct {
        const char *name;
        int number;
    } names[] = {{"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"HUP", SIGHUP}};
    uint64_t n;

    if (str_to_u64(str_from(text), 10, &n) && n > 0 && n <= 64)
        return (int)n;
    if (strncmp(text, "SIG", 3) == 0)
        text += 3;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i].name, text) == 0)
            return names[i].number;
    return 0;
}

static void watch_signal(const char *text)
{
    struct sigaction ours = {.sa_handler = on_toggle, .sa_flags = SA_RESTART};
    struct sigaction old;
    pthread_t thread;
    struct error err;
    int sig = signal_number(text);

    if (sig == 0 || sampler.sigaction(sig, NULL, &old) != 0 ||
        old.sa_handler != SIG_DFL) {
        say("PPROF_CPUPROFILE_SIGNAL is no free signal", text);
        return;
    }
    sem_init(&env.toggle, 0, 0);
    if (!runtime_thread(&thread, "pprof-toggle", toggle_loop, NULL, &err)) {
        say("PPROF_CPUPROFILE_SIGNAL", err.text);
        return;
    }
    pthread_detach(thread);
    sampler.sigaction(sig, &ours, NULL);
    env.toggles = true;
}

static void start_heap(void)
{
    struct error err;

    if (!heap_start(&err))
        say("no heap profile", err.text);
}

/* What there is of a profile at the end, if a file was named for it. */
static void write_snapshot(const char *name, const char *pattern)
{
    struct buf out = BUF_INIT(MAX_PROFILE_BYTES);
    struct error err;
    char path[640];

    if (!pattern[0])
        return;
    file_name(pattern, -1, path, sizeof(path));
    if (!profiles_write(profiles_find(str_from(name)), 0, &out, &err) ||
        !file_write(path, buf_str(&out), &err)) {
        error_wrap(&err, "%s", name);
        say("cannot write a profile", err.text);
    } else {
        say("wrote", path);
    }
    buf_release(&out);
}

/* Files for what threads wait for; who asks for one and names no rate wants
 * everything, as with Go's test flags. */
static void start_waits(void)
{
    struct error err;

    if (env.block_file[0] && !getenv("PPROF_BLOCK_RATE"))
        locks_set_block_rate(1, &err);
    if (env.mutex_file[0] && !getenv("PPROF_MUTEX_FRACTION"))
        locks_set_mutex_fraction(1, &err);
    if (env.wall_file[0] && !wall_start(&(struct wall_options){0}, &err)) {
        say("cannot start the wall profile", err.text);
        env.wall_file[0] = '\0';
    }
}

static void write_wall(void)
{
    struct buf out = BUF_INIT(MAX_PROFILE_BYTES);
    struct error err;
    char path[640];

    file_name(env.wall_file, -1, path, sizeof(path));
    if (!wall_stop(&out, &err) || !file_write(path, buf_str(&out), &err))
        say("cannot write the wall profile", err.text);
    else
        say("wrote", path);
    buf_release(&out);
}

static void keep_name(const char *variable, char out[512])
{
    const char *value = getenv(variable);

    if (value)
        snprintf(out, 512, "%s", value);
}

/* An endpoint that was asked for and cannot be had is worth a line. */
static void serve(void)
{
    struct serve_options options;
    char own[512];
    struct error err;

    if (env.children)
        serve_in_children();
    if (serve_options_read(NULL, &options, &err)) {
        if (serve_start(&options, &err))
            return;
        /* Among several programs the first one has the address. */
        serve_own_address(options.address, own, sizeof(own));
        options.address = own;
        if (env.children && serve_start(&options, &err))
            return;
    }
    env.debug = true;
    say("no profiling endpoint", err.text);
}

/* "LD_PRELOAD=…" without our library, in place: it only gets shorter.  False
 * when nothing else is in it. */
static bool shorten_preload(char *entry)
{
    char *from = entry + strlen("LD_PRELOAD="), *to = from, *start = to;

    while (*from) {
        size_t n = strcspn(from, ": ");
        struct str library = str_of(from, n);
        bool keep = n && !str_contains(library, STR("libpprof-preload.so"));

        if (keep && to != start)
            *to++ = ':';
        if (keep) {
            memmove(to, from, n);
            to += n;
        }
        from += n + (from[n] != '\0');
    }
    *to = '\0';
    return to != start;
}

static bool is_for_children(char *entry)
{
    if (strncmp(entry, "LD_PRELOAD=", 11) == 0)
        return shorten_preload(entry);
    return strncmp(entry, "PPROF_", 6) != 0;
}

/*
 * Takes our library out of LD_PRELOAD and our names out of the environment,
 * so that what this program starts is not profiled.  By hand: shells bring
 * their own setenv and unsetenv, which do something else.  What we need of
 * it later is kept in `env` before.
 */
static void hide_from_children(void)
{
    extern char **environ;
    char **to = environ;

    for (char **e = environ; e && *e; e++)
        if (is_for_children(*e))
            *to++ = *e;
    if (to)
        *to = NULL;
}

static void *wait_for_end(void *arg)
{
    (void)arg;
    while (atomic_load(&env.ending) != ENDING_ASKED)
        raw_futex_wait(&env.ending, ENDING_NOT, 0);
    env_stop();
    atomic_store(&env.ending, ENDING_DONE);
    raw_futex_wake(&env.ending);
    return NULL;
}

/* quick_exit runs neither destructors nor what atexit has. */
static void watch_end(void)
{
    pthread_t thread;
    struct error err;

    if (!env.file[0] && !env.heap_file[0] && !env.block_file[0] &&
        !env.mutex_file[0] && !env.wall_file[0])
        return;
    at_quick_exit(env_stop);
    env.has_end =
        runtime_thread(&thread, "pprof-end", wait_for_end, NULL, &err);
    if (env.has_end)
        pthread_detach(thread);
}

void env_exit(void)
{
    int64_t until = clock_monotonic_ns() + ENDING_PATIENCE_NS;
    uint32_t not_yet = ENDING_NOT;

    /* Nobody waits for the end, or in a child after (v)fork. */
    if (!env.has_end || raw_call4(SYS_getpid, 0, 0, 0, 0) != env.pid)
        return;
    if (atomic_compare_exchange_strong(&env.ending, &not_yet, ENDING_ASKED))
        raw_futex_wake(&env.ending);
    while (atomic_load(&env.ending) == ENDING_ASKED &&
           clock_monotonic_ns() < until)
        raw_futex_wait(&env.ending, ENDING_ASKED, ENDING_PATIENCE_NS);
}

void env_start(void)
{
    const char *file = getenv("PPROF_CPUPROFILE");
    const char *toggle = getenv("PPROF_CPUPROFILE_SIGNAL");
    const char *children = getenv("PPROF_CHILDREN");
    const char *address = getenv("PPROF_ADDR");

    cpu_read_environment();
    locks_read_environment();
    env.pid = getpid();
    env.children = children && strcmp(children, "1") == 0;
    env.debug = getenv("PPROF_DEBUG") != NULL;
    if (file)
        snprintf(env.file, sizeof(env.file), "%s", file);
    if (file && toggle)
        watch_signal(toggle);
    else if (file)
        start_profile();
    keep_name("PPROF_HEAPPROFILE", env.heap_file);
    keep_name("PPROF_BLOCKPROFILE", env.block_file);
    keep_name("PPROF_MUTEXPROFILE", env.mutex_file);
    keep_name("PPROF_WALLPROFILE", env.wall_file);
    watch_end();
    start_waits();
    if ((address && *address) || env.heap_file[0] || getenv("PPROF_MEM_RATE") ||
        getenv("PPROF_HEAP_DUMP_AT"))
        start_heap();
    if (address && *address)
        serve();
    if (!env.children)
        hide_from_children();
}

void env_stop(void)
{
    if (getpid() != env.pid)
        return;
    if (env.is_running)
        stop_profile();
    if (env.wall_file[0])
        write_wall();
    write_snapshot("heap", env.heap_file);
    write_snapshot("block", env.block_file);
    write_snapshot("mutex", env.mutex_file);
}
