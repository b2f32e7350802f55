/*
 * What fork() means for the library: every part that has threads, locks or
 * timers is prepared before and put right after, in one place and in a fixed
 * order.  This file knows all the parts; none of them knows this file.
 */
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "base/clock.h"
#include "base/own_fd.h"
#include "runtime/api.h"
#include "runtime/cpu/cpu.h"
#include "runtime/cpu/sampling_thread.h"
#include "runtime/cpu/sigprof.h"
#include "runtime/endpoint/serve.h"
#include "runtime/heap/heap.h"
#include "runtime/heap/heap_limit_thread.h"
#include "runtime/lock/locks.h"
#include "runtime/own_thread.h"
#include "runtime/push/push.h"
#include "runtime/state.h"
#include "runtime/thread/threads.h"
#include "runtime/thread/wall.h"
#include "runtime/unwind/table_builder.h"
#include "runtime/write/custom.h"
#include "runtime/write/line_lookup.h"

#define FORK_PATIENCE_NS 20000000

enum {
    FORK_LOCKED = 1,
    FORK_UNBLOCK_PROF = 2,
    FORK_UNBLOCK_TRAP = 4,
    FORK_SERVE_LOCKED = 8,
    FORK_SOURCE_LOCKED = 16,
};

/*
 * A sampling signal that comes again and again while a big process is being
 * copied can restart fork for ever: hold it back.  The lock is waited for,
 * but not long: its holder may be waiting for the loader, whose lock the
 * forking thread may have.
 */
static void before_fork(void)
{
    struct own_scope scope = own_scope_enter(NULL);
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
    if (sampling_thread_before_fork())
        undo |= FORK_SOURCE_LOCKED;
    pprof_thread.at_fork = undo;
    own_scope_restore(&scope);
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
    sampling_thread_after_fork_in_parent(pprof_thread.at_fork &
                                         FORK_SOURCE_LOCKED);
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
    struct own_scope scope = own_scope_enter(NULL);

    own_threads_after_fork();
    table_builder_after_fork();
    cpu_after_fork(pprof_thread.at_fork & FORK_SOURCE_LOCKED);
    threads_after_fork();
    locks_after_fork();
    heap_peak_after_fork(&heap.peak);
    custom_after_fork();
    line_lookup_after_fork();
    push_after_fork();
    wall_after_fork();
    own_fds_after_fork();
    api_wall_after_fork();
    api_cpu_after_fork();
    api_push_after_fork();
    pprof_thread.tid = 0;
    pprof_thread.profile = 0;
    if (runtime.is_ready) {
        grace_reset(&runtime.modules.grace);
        modules_build_abandon(&runtime.modules);
    }
    if (!(pprof_thread.at_fork & FORK_LOCKED))
        runtime.is_ready = false;
    runtime.lock = fresh;
    runtime.forks++;
    /* From here on threads are started. */
    serve_after_fork();
    heap_limit_thread_after_fork(serve_address()[0] != 0);
    unblock_after_fork();
    own_scope_restore(&scope);
}

/*
 * When the library is loaded and not when it is first used: another thread may
 * be forking at that moment, and its child would find our locks taken for ever.
 * Before other constructors of ours, whose own work in the child comes after
 * this.
 */
__attribute__((constructor(102))) static void hook_fork(void)
{
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}
