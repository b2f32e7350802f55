/*
 * The thread waits on one futex for everything that it may be asked.  Who asks
 * sets a phase and wakes it, which a signal handler may do, and then waits on
 * the phase.
 */
#include "runtime/hook/run_writer.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/clock.h"
#include "runtime/endpoint/serve.h"
#include "runtime/own_thread.h"
#include "runtime/push/push.h"
#include "runtime/rawcall.h"

/* IDLE -> ASKED (by who ends) -> DONE -> RESUMED (exec failed) -> IDLE */
enum phase { PHASE_IDLE, PHASE_ASKED, PHASE_DONE, PHASE_RESUMED };

static struct {
    _Atomic int pid;         /* of the process that has the thread, 0: none */
    _Atomic uint32_t wake;   /* a futex: counts what the thread is asked */
    _Atomic uint32_t phase;  /* enum phase; a futex */
    _Atomic uint32_t moment; /* enum run_moment */
    _Atomic(const char *) next;
    _Atomic uint32_t toggles;
    _Atomic uint32_t early_toggles; /* in a child that is not yet set up */
} writer;

static void notify(void)
{
    atomic_fetch_add(&writer.wake, 1);
    raw_futex_wake_all(&writer.wake);
}

static void set_phase(enum phase phase)
{
    atomic_store(&writer.phase, phase);
    raw_futex_wake_all(&writer.phase);
}

static void answer(void)
{
    switch (atomic_load(&writer.phase)) {
    case PHASE_ASKED:
        run_files_write(atomic_load(&writer.moment), atomic_load(&writer.next));
        serve_remove_socket();
        if (atomic_load(&writer.moment) == RUN_ENDS)
            push_finish();
        else
            push_abandon();
        set_phase(PHASE_DONE);
        break;
    case PHASE_RESUMED:
        run_files_restart();
        set_phase(PHASE_IDLE);
        break;
    default:
        break;
    }
}

static void *run(void *arg)
{
    int64_t interval = run_files_interval_ns();
    int64_t next = clock_monotonic_ns() + interval;
    uint32_t toggled = 0;

    (void)arg;
    for (;;) {
        uint32_t seen = atomic_load(&writer.wake);
        int64_t left = interval ? next - clock_monotonic_ns() : 0;

        answer();
        if (interval && left <= 0) {
            if (atomic_load(&writer.phase) == PHASE_IDLE)
                run_files_write_heap();
            next += interval;
            continue;
        }
        for (; toggled != atomic_load(&writer.toggles); toggled++)
            run_files_toggle();
        raw_futex_wait(&writer.wake, seen, left);
    }
    return NULL;
}

bool run_writer_start(struct error *err)
{
    pthread_t thread;

    atomic_store(&writer.phase, PHASE_IDLE);
    if (!own_thread_start(&thread, "pprof-writer", run, NULL, err))
        return false;
    pthread_detach(thread);
    atomic_store(&writer.pid, (int)getpid());
    return true;
}

bool run_writer_is_up(void)
{
    int pid = atomic_load(&writer.pid);

    return pid && raw_call4(SYS_getpid, 0, 0, 0, 0) == pid;
}

bool run_writer_finish(enum run_moment moment, const char *next,
                       int64_t patience_ns)
{
    int64_t until = clock_monotonic_ns() + patience_ns;
    uint32_t idle = PHASE_IDLE;

    if (atomic_load(&writer.phase) == PHASE_IDLE) {
        atomic_store(&writer.moment, moment);
        atomic_store(&writer.next, next);
        if (atomic_compare_exchange_strong(&writer.phase, &idle, PHASE_ASKED))
            notify();
    }
    while (atomic_load(&writer.phase) == PHASE_ASKED) {
        int64_t left = patience_ns ? until - clock_monotonic_ns() : 0;

        if (patience_ns && left <= 0)
            return false;
        raw_futex_wait(&writer.phase, PHASE_ASKED, left);
    }
    return true;
}

void run_writer_resume(void)
{
    assert(atomic_load(&writer.phase) == PHASE_DONE);
    set_phase(PHASE_RESUMED);
    notify();
    while (atomic_load(&writer.phase) == PHASE_RESUMED)
        raw_futex_wait(&writer.phase, PHASE_RESUMED, RUN_PATIENCE_NS);
}

/* A signal may reach a child before run_writer_after_fork() has run there. */
void run_writer_toggle(void)
{
    bool is_early = atomic_load(&writer.pid) && !run_writer_is_up();

    atomic_fetch_add(is_early ? &writer.early_toggles : &writer.toggles, 1);
    notify();
}

void run_writer_after_fork(void)
{
    atomic_store(&writer.toggles, 0); /* the parent's */
    atomic_store(&writer.pid, 0);
    atomic_fetch_add(&writer.toggles,
                     atomic_exchange(&writer.early_toggles, 0));
}
