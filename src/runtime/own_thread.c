/*
 * The list of the library's own threads, and the marks in a thread's state
 * that make hooks and handlers leave it alone.
 *
 * A thread that has announced its end stays in the list, with a negative id,
 * until the kernel has really ended it: its id is visible in /proc until
 * then and must not be taken for a thread of the program.
 */
#include "runtime/own_thread.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/pages.h"
#include "runtime/cpu/sigprof.h"
#include "runtime/heap/heap.h"
#include "runtime/own_code.h"
#include "runtime/rawcall.h"
#include "runtime/state.h"

/* Our threads: their ids, negative from _leave until the kernel has really
 * ended them. */
#define MAX_OWN OWN_THREADS_MAX
static _Atomic int own[MAX_OWN];
static struct own_stack stacks[MAX_OWN]; /* written before own[i] is set */
static _Atomic int n_starting;           /* made, but not in own yet */

#define OWN_RESERVED INT_MIN /* its thread is about to set it */

#define START_PATIENCE_NS 200000000

static bool own_replace(int from, int to)
{
    for (int i = 0; i < MAX_OWN; i++) {
        int was = from;

        if (atomic_compare_exchange_strong(&own[i], &was, to))
            return true;
    }
    return false;
}

/* Returns true if it is the thread that ended, and not a new one with the same
 * number. */
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

        if (tid < 0 && tid != OWN_RESERVED && !is_still_leaving(-tid))
            atomic_compare_exchange_strong(&own[i], &tid, 0);
    }
}

static void mark(bool is_own)
{
    if (own_is_shown())
        return;
    pprof_thread.is_own = is_own;
    if (is_own)
        heap_thread.busy |= HEAP_BUSY_OWN;
    else
        heap_thread.busy &= ~(uint32_t)HEAP_BUSY_OWN;
}

struct own_scope own_scope_enter(const void *caller)
{
    struct own_scope s = {pprof_thread.is_own, pprof_thread.own_caller,
                          heap_thread.left, heap_thread.rate};

    if (!s.was_own)
        pprof_thread.own_caller = (uint64_t)(uintptr_t)caller;
    mark(true);
    return s;
}

struct own_scope own_scope_leave(void)
{
    struct own_scope s = {pprof_thread.is_own, pprof_thread.own_caller,
                          heap_thread.left, heap_thread.rate};

    pprof_thread.own_caller = 0;
    mark(false);
    return s;
}

/* The bytes that we allocated do not count.  A rate that was set meanwhile
 * holds from the next allocation on. */
static void restore_heap(const struct own_scope *scope)
{
    bool is_same =
        scope->heap_rate != 0 && scope->heap_rate == atomic_load(&heap.rate);

    heap_thread.left = is_same ? scope->heap_left : 0;
    heap_thread.rate = is_same ? scope->heap_rate : 0;
}

void own_scope_restore(const struct own_scope *scope)
{
    bool was_own = pprof_thread.is_own;

    mark(scope->was_own);
    pprof_thread.own_caller = scope->caller;
    if (was_own && !scope->was_own)
        restore_heap(scope);
}

/* Signals of ours must reach a thread that is to be shown. */
static void let_samples_in(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGPROF);
    sigaddset(&set, SIGTRAP);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

/* The stack from its lowest address to `frame`; empty: not known. */
static struct own_stack stack_below(const void *frame)
{
    struct own_stack s = {0, 0};
    pthread_attr_t attr;
    void *start = NULL;
    size_t size = 0;

    if (pthread_getattr_np(pthread_self(), &attr) != 0)
        return s;
    if (pthread_attr_getstack(&attr, &start, &size) == 0)
        s = (struct own_stack){(uint64_t)(uintptr_t)start,
                               (uint64_t)(uintptr_t)frame};
    pthread_attr_destroy(&attr);
    return s;
}

/* False: the list is full. */
static bool own_add(int tid, struct own_stack stack)
{
    for (int i = 0; i < MAX_OWN; i++) {
        int none = 0;

        /* No other thread takes a place with this number. */
        if (!atomic_compare_exchange_strong(&own[i], &none, OWN_RESERVED))
            continue;
        stacks[i] = stack;
        atomic_store(&own[i], tid);
        return true;
    }
    return false;
}

void own_thread_enter(void)
{
    int tid = raw_gettid();
    struct own_stack stack;

    mark(true);
    if (own_is_shown())
        let_samples_in();
    if (own_replace(tid, tid))
        return;
    stack = stack_below(__builtin_frame_address(0));
    if (own_add(tid, stack))
        return;
    forget_dead();
    own_add(tid, stack);
}

void own_thread_leave(void)
{
    own_replace(raw_gettid(), -raw_gettid());
    mark(false);
}

bool own_thread_is(int tid)
{
    if (own_is_shown())
        return false;
    for (int i = 0; i < MAX_OWN; i++) {
        int v = atomic_load(&own[i]);

        if (v == tid || v == -tid)
            return true;
    }
    return false;
}

size_t own_threads_list(int *out, size_t max)
{
    size_t n = 0;

    for (int i = 0; i < MAX_OWN && n < max; i++) {
        int tid = atomic_load(&own[i]);

        if (tid > 0)
            out[n++] = tid;
    }
    return n;
}

size_t own_threads_stacks(struct own_stack *out, size_t max)
{
    size_t n = 0;

    for (int i = 0; i < MAX_OWN && n < max; i++)
        if (atomic_load(&own[i]) > 0 && stacks[i].start < stacks[i].limit)
            out[n++] = stacks[i];
    return n;
}

void own_threads_settle(void)
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
    own_thread_enter();
    atomic_fetch_sub(&n_starting, 1);
    result = s.run(s.arg);
    own_thread_leave();
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

bool own_thread_start(pthread_t *out, const char *name, void *(*run)(void *),
                      void *arg, struct error *err)
{
    struct own_start *s = pages_alloc(sizeof(*s));
    int rc = ENOMEM;

    if (s) {
        *s = (struct own_start){name, run, arg};
        atomic_fetch_add(&n_starting, 1);
        rc = own_create(out, s);
    }
    assert(rc != 0 || s);
    if (rc != 0) {
        if (s)
            atomic_fetch_sub(&n_starting, 1);
        pages_free(s, sizeof(*s));
        return error_set_os(err, "start a thread", name, rc);
    }
    return true;
}

void own_threads_after_fork(void)
{
    for (int i = 0; i < MAX_OWN; i++)
        atomic_store(&own[i], 0);
    atomic_store(&n_starting, 0);
}
