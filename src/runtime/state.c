#include "runtime/state.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/pages.h"
#include "elf/maps.h"
#include "runtime/api.h"
#include "runtime/builder.h"
#include "runtime/cpu.h"
#include "runtime/custom.h"
#include "runtime/heap.h"
#include "runtime/heap_keeper.h"
#include "runtime/locks.h"
#include "runtime/rawcall.h"
#include "runtime/serve.h"
#include "runtime/sigprof.h"
#include "runtime/threads.h"
#include "runtime/wall.h"

struct runtime runtime = {.lock = PTHREAD_MUTEX_INITIALIZER,
                          .create = pthread_create};

/* Our threads: their ids, negative from _leave until the kernel has really
 * ended them. */
#define MAX_OWN 32
static _Atomic int own[MAX_OWN];
static _Atomic int n_starting; /* made, but not in own yet */

#define START_PATIENCE_NS 20000000

#define FORK_PATIENCE_NS 20000000

enum {
    FORK_LOCKED = 1,
    FORK_UNBLOCK_PROF = 2,
    FORK_UNBLOCK_TRAP = 4,
    FORK_SERVE_LOCKED = 8,
};

/*
 * A sampling signal that comes again and again while a big process is being
 * copied can restart fork for ever: hold it back.  The lock is waited for,
 * but not long: its holder may be waiting for the loader, whose lock the
 * forking thread may have.
 */
static void before_fork(void)
{
    sigset_t block, old;
    struct timespec until;
    uint32_t undo = 0;

    sigemptyset(&block);
    sigaddset(&block, SIGPROF);
    sigaddset(&block, SIGTRAP);
    pthread_sigmask(SIG_BLOCK, &block, &old);
    if (!sigismember(&old, SIGPROF))
        undo |= FORK_UNBLOCK_PROF;
    if (!sigismember(&old, SIGTRAP))
        undo |= FORK_UNBLOCK_TRAP;
    until = clock_timespec(clock_realtime_ns() + FORK_PATIENCE_NS);
    if (pthread_mutex_timedlock(&runtime.lock, &until) == 0)
        undo |= FORK_LOCKED;
    if (serve_before_fork())
        undo |= FORK_SERVE_LOCKED;
    pprof_thread.at_fork = undo;
}

static void unblock_after_fork(void)
{
    sigset_t set;

    sigemptyset(&set);
    if (pprof_thread.at_fork & FORK_UNBLOCK_PROF)
        sigaddset(&set, SIGPROF);
    if (pprof_thread.at_fork & FORK_UNBLOCK_TRAP)
        sigaddset(&set, SIGTRAP);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static void after_fork_in_parent(void)
{
    serve_after_fork_in_parent(pprof_thread.at_fork & FORK_SERVE_LOCKED);
    if (pprof_thread.at_fork & FORK_LOCKED)
        pthread_mutex_unlock(&runtime.lock);
    unblock_after_fork();
}

/* Only this thread exists here, and no event or timer.  What another thread
 * was changing while we forked is abandoned, not repaired. */
static void after_fork_in_child(void)
{
    static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;

    builder_after_fork();
    cpu_after_fork(pprof_thread.at_fork & FORK_LOCKED);
    threads_after_fork();
    locks_after_fork();
    custom_after_fork();
    wall_after_fork();
    wall_api_after_fork();
    api_after_fork();
    serve_after_fork();
    pprof_thread.tid = 0;
    pprof_thread.profile = 0;
    if (runtime.is_ready) {
        grace_reset(&runtime.modules.grace);
        modules_build_abandon(&runtime.modules);
    }
    if (!(pprof_thread.at_fork & FORK_LOCKED))
        runtime.is_ready = false;
    for (int i = 0; i < MAX_OWN; i++)
        atomic_store(&own[i], 0);
    atomic_store(&n_starting, 0);
    runtime.lock = fresh;
    runtime.forks++;
    heap_keeper_after_fork();
    unblock_after_fork();
}

/*
 * When the library is loaded and not when it is first used: another thread
 * may be forking just then, and its child would find our locks taken and
 * nobody to give them back.
 */
__attribute__((constructor)) static void hook_fork(void)
{
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

static void find_main_stack(void)
{
    struct maps maps;

    if (maps_read(&maps, "/proc/self/maps")) {
        for (size_t i = 0; i < maps.entries.n; i++) {
            const struct maps_entry *e = maps_at(&maps, i);

            if (str_eq(e->path, STR("[stack]")))
                sampler.main_stack_limit = e->limit;
        }
    }
    maps_release(&maps);
}

bool runtime_ready(struct error *err)
{
    bool ok;

    runtime_lock();
    if (!runtime.is_ready) {
        runtime.is_ready = modules_init(&runtime.modules);
        sampler.grace = &runtime.modules.grace;
        sampler.map = &runtime.modules.map;
        find_main_stack();
    }
    ok = runtime.is_ready;
    runtime_unlock();
    return ok || error_set(err, "out of memory");
}

void runtime_lock(void)
{
    pthread_mutex_lock(&runtime.lock);
}

void runtime_unlock(void)
{
    pthread_mutex_unlock(&runtime.lock);
}

void runtime_sleep_ns(int64_t ns)
{
    struct timespec t = clock_timespec(ns);

    while (nanosleep(&t, &t) != 0 && errno == EINTR)
        ;
}

static bool own_replace(int from, int to)
{
    for (int i = 0; i < MAX_OWN; i++) {
        int was = from;

        if (atomic_compare_exchange_strong(&own[i], &was, to))
            return true;
    }
    return false;
}

/* Is it the thread that left, or another one with the number by now? */
static bool is_still_leaving(int tid)
{
    char path[64], name[16] = "";
    ssize_t n = 0;
    int fd;

    snprintf(path, sizeof(path), "/proc/self/task/%d/comm", tid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        n = read(fd, name, sizeof(name) - 1);
        close(fd);
    }
    return n > 0 && strncmp(name, "pprof-", 6) == 0;
}

static void forget_dead(void)
{
    for (int i = 0; i < MAX_OWN; i++) {
        int tid = atomic_load(&own[i]);

        if (tid < 0 && !is_still_leaving(-tid))
            atomic_compare_exchange_strong(&own[i], &tid, 0);
    }
}

void runtime_own_thread_enter(void)
{
    int tid = raw_gettid();

    heap_thread.busy |= HEAP_BUSY_OWN;
    pprof_thread.is_own = true;
    if (own_replace(tid, tid) || own_replace(0, tid))
        return;
    forget_dead();
    own_replace(0, tid);
}

void runtime_own_thread_leave(void)
{
    own_replace(raw_gettid(), -raw_gettid());
    heap_thread.busy &= ~(uint32_t)HEAP_BUSY_OWN;
    pprof_thread.is_own = false;
}

bool runtime_is_own_thread(int tid)
{
    for (int i = 0; i < MAX_OWN; i++) {
        int v = atomic_load(&own[i]);

        if (v == tid || v == -tid)
            return true;
    }
    return false;
}

void runtime_own_threads_settle(void)
{
    int64_t until = clock_monotonic_ns() + START_PATIENCE_NS;

    while (atomic_load(&n_starting) > 0 && clock_monotonic_ns() < until)
        runtime_sleep_ns(50000);
    forget_dead();
}

struct own_start {
    const char *name;
    void *(*run)(void *);
    void *arg;
};

static void *own_main(void *arg)
{
    struct own_start s = *(struct own_start *)arg;
    void *result;

    pages_free(arg, sizeof(s));
    prctl(PR_SET_NAME, s.name, 0, 0, 0);
    runtime_own_thread_enter();
    atomic_fetch_sub(&n_starting, 1);
    result = s.run(s.arg);
    runtime_own_thread_leave();
    return result;
}

/* Made with all signals blocked, so that they stay blocked in it. */
static int own_create(pthread_t *out, struct own_start *s)
{
    pthread_attr_t attr;
    sigset_t all, old;
    int rc;

    sigfillset(&all);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 256 * 1024);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    rc = runtime.create(out, &attr, own_main, s);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    return rc;
}

bool runtime_thread(pthread_t *out, const char *name, void *(*run)(void *),
                    void *arg, struct error *err)
{
    struct own_start *s = pages_alloc(sizeof(*s));
    int rc = ENOMEM;

    if (s) {
        *s = (struct own_start){name, run, arg};
        atomic_fetch_add(&n_starting, 1);
        rc = own_create(out, s);
    }
    if (rc != 0) {
        if (s)
            atomic_fetch_sub(&n_starting, 1);
        pages_free(s, sizeof(*s));
        return error_set_os(err, "start a thread", name, rc);
    }
    return true;
}
