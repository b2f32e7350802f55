/*
 * What the environment asks for, set up in the right order, and the moments
 * at which it ends: exit, exec, a signal, fork and daemon(3).
 */
#include "runtime/hook/env.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/own_fd.h"
#include "base/str.h"
#include "pprof/pprof.h"
#include "runtime/cpu/cpu.h"
#include "runtime/cpu/sigprof.h"
#include "runtime/own_thread.h"
#include "runtime/say.h"
#include "runtime/endpoint/serve.h"
#include "runtime/endpoint/serve_options.h"
#include "runtime/heap/heap.h"
#include "runtime/hook/end_signals.h"
#include "runtime/hook/exec_environment.h"
#include "runtime/hook/hook_next.h"
#include "runtime/hook/run_files.h"
#include "runtime/hook/run_writer.h"
#include "runtime/hook/settings.h"
#include "runtime/hook/signal_name.h"
#include "runtime/lock/locks.h"
#include "runtime/own_code.h"
#include "runtime/push/push.h"
#include "runtime/push/push_dumps.h"
#include "runtime/rawcall.h"

static struct {
    _Atomic int pid; /* of the process that is profiled */
    bool children;
    bool is_detaching; /* in daemon(3): the child is the program */
    bool needs_writer; /* there is something to do at the end */
    int toggle;        /* the signal of PPROF_CPUPROFILE_SIGNAL, or 0 */
} env;

static bool is_one(const char *variable)
{
    const char *value = getenv(variable);

    return value && strcmp(value, "1") == 0;
}

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);

    return value && *value;
}

bool env_is_profiled(void)
{
    int pid = atomic_load(&env.pid);

    return pid && raw_call4(SYS_getpid, 0, 0, 0, 0) == pid;
}

static void on_toggle(int sig)
{
    int saved = errno;

    (void)sig;
    run_writer_toggle();
    errno = saved;
}

static void watch_toggle(void)
{
    struct sigaction ours = {.sa_handler = on_toggle, .sa_flags = SA_RESTART};
    const char *text = getenv("PPROF_CPUPROFILE_SIGNAL");
    struct sigaction old;

    if (!text || !*text || !is_set("PPROF_CPUPROFILE"))
        return;
    env.toggle = signal_number(text);
    if (env.toggle == 0 || sampler.sigaction(env.toggle, NULL, &old) != 0 ||
        old.sa_handler != SIG_DFL)
        say_note("no CPU profile: %s is not a signal that can be used "
                 "(PPROF_CPUPROFILE_SIGNAL)",
                 text);
    else
        sampler.sigaction(env.toggle, &ours, NULL);
}

/* If the requested endpoint cannot be started, reports it in a line. */
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
    say_note("no profiling endpoint: %s", err.text);
}

static int64_t patience(void)
{
    return RUN_PATIENCE_NS + push_exit_ns();
}

static void finish_at_signal(int sig)
{
    (void)sig;
    if (run_writer_is_up() && !run_writer_finish(RUN_ENDS, NULL, patience()))
        say_line(STR("pprof: the program ends by a signal; its profiles could "
                     "not be written in time\n"));
}

static void start_writer(void)
{
    struct error err;

    if (env.needs_writer && !run_writer_start(&err))
        say_note("profiles may be lost at the end: %s", err.text);
}

/* Only this thread exists here; what the library's parts have to do after a
 * fork is done (fork.c). */
static void after_fork_in_child(void)
{
    run_writer_after_fork();
    if (!env.children && !env.is_detaching)
        return;
    env.is_detaching = false;
    atomic_store(&env.pid, (int)getpid());
    start_writer();
    end_signals_after_fork();
    run_files_restart();
    push_restart();
}

/* vfork and posix_spawn do not come here; their children are waited for. */
static void after_fork_in_parent(void)
{
    if (!env.children)
        run_files_note_fork();
}

/* quick_exit runs neither destructors nor what atexit has. */
static void watch_end(void)
{
    const char *address = getenv("PPROF_ADDR");

    env.needs_writer = run_files_any() || push_options_wanted() ||
                       (address && strncmp(address, "unix:", 5) == 0);
    pthread_atfork(NULL, after_fork_in_parent, after_fork_in_child);
    if (!env.needs_writer)
        return;
    at_quick_exit(env_stop);
    start_writer();
    end_signals_watch(finish_at_signal, env.toggle);
}

/* pprof-run has refused to start with these. */
static void explain_settings(void)
{
    extern char **environ;
    const char *known, *entry = setting_misspelt(environ, &known);
    const char *source = getenv("PPROF_CPU_SOURCE");
    struct error err;

    if (run_files_execs() > 0)
        return; /* the program before this one has said it */
    if (entry)
        say_note("%.*s is no setting; PPROF_%s is one",
                 (int)strcspn(entry, "="), entry, known);
    for (size_t i = 0; i < setting_numbers_n; i++)
        if (setting_is_bad(&setting_numbers[i]))
            say_note("%s=%s: must be a number from %llu to %llu",
                     setting_numbers[i].variable,
                     getenv(setting_numbers[i].variable),
                     (unsigned long long)setting_numbers[i].min,
                     (unsigned long long)setting_numbers[i].max);
    if (!setting_switches_check(&err))
        say_note("%s", err.text);
    if (!setting_is_source(source))
        say_note("PPROF_CPU_SOURCE=%s: must be perf, perf-user or timer",
                 source);
}

static void start_heap(void)
{
    struct error err;

    if ((serve_options_wanted() || is_set("PPROF_MEM_RATE") ||
         is_set("PPROF_HEAP_DUMP_AT")) &&
        !heap_start(&err))
        say_note("no heap profile: %s", err.text);
}

/* If pushing to the requested collector cannot be started, reports it in a
 * line. */
static void start_push(void)
{
    static struct push_options options; /* too large for a stack */
    struct error err;

    push_dumps_read_environment();
    if (!push_options_read(NULL, &options, &err) || !push_start(&options, &err))
        say_note("no profiles are pushed: %s", err.text);
}

void env_start(void)
{
    struct own_scope scope = own_scope_enter(NULL);

    say_begin();
    own_fds_reserve();
    cpu_read_environment();
    locks_read_environment();
    env.children = is_one("PPROF_CHILDREN");
    atomic_store(&env.pid, (int)getpid());
    run_files_read_environment(env.children, is_set("PPROF_DEBUG"));
    explain_settings();
    watch_toggle();
    watch_end();
    run_files_start(env.toggle != 0);
    start_heap();
    if (serve_options_wanted())
        serve();
    if (push_options_wanted())
        start_push();
    exec_environment_keep(!env.children);
    own_scope_restore(&scope);
}

void env_exit(void)
{
    if (run_writer_is_up() && !run_writer_finish(RUN_ENDS, NULL, patience()))
        say_line(STR("pprof: the program ends by _exit; its profiles could "
                     "not be written in time\n"));
}

void env_stop(void)
{
    struct own_scope scope;

    if (!env_is_profiled())
        return;
    scope = own_scope_enter(NULL);
    if (run_writer_is_up())
        run_writer_finish(RUN_ENDS, NULL, 0);
    else if (env.needs_writer)
        run_files_write(RUN_ENDS, NULL);
    own_scope_restore(&scope);
}

/* libc's daemon() ends the parent without our _exit(), so its profiles are
 * written before; the child is the program from then on, at the same
 * address. */
PPROF_API OWN_WRAPPER int daemon(int nochdir, int noclose)
{
    static hook_slot next;
    int (*real)(int, int);
    bool has_files = env_is_profiled() && run_writer_is_up();
    bool has_endpoint = env_is_profiled() && serve_pause();
    int rc;

    *(void **)&real = hook_next(&next, "daemon");
    if (has_files)
        run_writer_finish(RUN_DETACHES, NULL, RUN_PATIENCE_NS);
    env.is_detaching = env_is_profiled();
    rc = real(nochdir, noclose);
    env.is_detaching = false;
    if (rc != 0 && has_files)
        run_writer_resume();
    if (has_endpoint)
        serve_resume();
    return rc;
}
