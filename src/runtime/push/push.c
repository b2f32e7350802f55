/*
 * The life of the two threads.  Both are detached: a thread that hangs in a
 * call to the collector must not be joined by anybody.  Who waits for the end
 * waits on the phase, and not for long.
 */
#include "runtime/push/push.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "http/tls/openssl.h"
#include "runtime/cpu/cpu.h"
#include "runtime/cpu/intervals.h"
#include "runtime/heap/heap.h"
#include "runtime/lock/locks.h"
#include "runtime/own_thread.h"
#include "runtime/push/push_state.h"
#include "runtime/rawcall.h"
#include "runtime/say.h"
#include "runtime/state.h"

/* For the end of a program whose collector is in trouble. */
#define SHORT_PATIENCE_NS (SECOND / 2)
#define SLOW_NS           SECOND

struct push_state push = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool is_here(void)
{
    int pid = atomic_load(&push.pid);

    return pid && raw_call4(SYS_getpid, 0, 0, 0, 0) == pid;
}

bool push_is_running(void)
{
    return is_here() && atomic_load(&push.phase) == PUSH_ON;
}

int64_t push_jitter(int64_t ns, int low, int high)
{
    uint64_t random =
        intervals_seed((uint64_t)raw_gettid(), (uint64_t)clock_monotonic_ns());

    return ns / 100 * low + intervals_below(&random, ns / 100 * (high - low));
}

static void wake(void)
{
    atomic_fetch_add(&push.taker_wake, 1);
    raw_futex_wake_all(&push.taker_wake);
    atomic_fetch_add(&push.sender_wake, 1);
    raw_futex_wake_all(&push.sender_wake);
}

bool push_sleep_until(_Atomic uint32_t *wake_word, int64_t until_ns)
{
    while (atomic_load(&push.phase) == PUSH_ON) {
        uint32_t seen = atomic_load(wake_word);
        int64_t left = until_ns - clock_monotonic_ns();

        if (left <= 0)
            return true;
        if (atomic_load(&push.phase) == PUSH_ON)
            raw_futex_wait(wake_word, seen, left);
    }
    return false;
}

void push_enqueue(const struct push_profile *profile)
{
    pthread_mutex_lock(&push.lock);
    push_queue_add(&push.queue, profile);
    pthread_mutex_unlock(&push.lock);
    atomic_fetch_add(&push.sender_wake, 1);
    raw_futex_wake_all(&push.sender_wake);
}

/* --- starting ------------------------------------------------------------- */

/* What has to be counted before it can be taken.  A profile that cannot be
 * taken is reported in a line; the others are pushed. */
static void prepare(void)
{
    bool *kinds = push.options.kinds;
    struct error err;

    if (kinds[PUSH_HEAP] && !heap_start(&err)) {
        say_note("no heap profile is pushed: %s", err.text);
        kinds[PUSH_HEAP] = false;
    }
    if (kinds[PUSH_BLOCK] || kinds[PUSH_MUTEX])
        locks_serve();
}

static bool start_push_thread(const char *name, void *(*run)(void *),
                              struct error *err)
{
    pthread_t thread;

    atomic_fetch_add(&push.threads, 1);
    if (!own_thread_start(&thread, name, run, NULL, err)) {
        atomic_fetch_sub(&push.threads, 1);
        return false;
    }
    pthread_detach(thread);
    return true;
}

static bool start_threads(struct error *err)
{
    push.queue = (struct push_queue){.max_bytes = push.options.max_bytes};
    push.started_ns = clock_realtime_ns();
    atomic_store(&push.is_failing, false);
    atomic_store(&push.sending_since_ns, 0);
    atomic_store(&push.phase, PUSH_ON);
    atomic_store(&push.pid, (int)getpid());
    if (start_push_thread("pprof-send", push_sender, err) &&
        start_push_thread("pprof-push", push_taker, err))
        return true;
    atomic_store(&push.phase, PUSH_DONE); /* ends the one that runs */
    wake();
    return false;
}

/* Registered after OpenSSL's own, so that it runs before: the last profile
 * may need it. */
static bool watch_exit(struct error *err)
{
    static bool is_watching;

    if (push.options.target.url.is_tls && !openssl_load(err))
        return false;
    if (!is_watching)
        is_watching = atexit(push_finish) == 0;
    return true;
}

bool push_start(const struct push_options *options, struct error *err)
{
    uint32_t phase = atomic_load(&push.phase);

    if (is_here() && (phase == PUSH_ON || atomic_load(&push.threads) > 0))
        return error_set_code(err, phase == PUSH_ON ? EALREADY : EBUSY,
                              phase == PUSH_ON
                                  ? "profiles are pushed already, to %s"
                                  : "the last push to %s has not ended yet",
                              push.options.target.shown);
    if (!runtime_ready(err))
        return false;
    push.options = *options;
    if (!watch_exit(err))
        return false;
    prepare();
    return start_threads(err);
}

/* --- ending --------------------------------------------------------------- */

static bool is_slow(void)
{
    int64_t since = atomic_load(&push.sending_since_ns);

    return since && clock_monotonic_ns() - since > SLOW_NS;
}

static int64_t patience(void)
{
    int64_t most = push.options.exit_ns;

    return (atomic_load(&push.is_failing) || is_slow()) &&
                   most > SHORT_PATIENCE_NS
               ? SHORT_PATIENCE_NS
               : most;
}

int64_t push_exit_ns(void)
{
    return is_here() ? push.options.exit_ns : 0;
}

void push_finish(void)
{
    struct own_scope scope;
    uint32_t on = PUSH_ON, phase;
    int64_t left;

    if (!is_here())
        return;
    scope = own_scope_enter(NULL);
    if (atomic_load(&push.phase) == PUSH_ON) {
        atomic_store(&push.finish_by_ns, clock_monotonic_ns() + patience());
        if (atomic_compare_exchange_strong(
                &push.phase, &on,
                push.options.exit_ns > 0 ? PUSH_ASKED : PUSH_DONE))
            wake();
    }
    while ((phase = atomic_load(&push.phase)) == PUSH_ASKED ||
           phase == PUSH_TAKEN) {
        left = atomic_load(&push.finish_by_ns) - clock_monotonic_ns();
        if (left <= 0)
            break;
        raw_futex_wait(&push.phase, phase, left);
    }
    own_scope_restore(&scope);
}

void push_abandon(void)
{
    struct error err;

    if (is_here() && cpu_is_running(CPU_PUSHED))
        cpu_stop(CPU_PUSHED, NULL, &err);
}

/* The queue is the parent's: its memory is given up, because another thread
 * may have been changing it. */
void push_after_fork(void)
{
    static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;

    push.lock = fresh;
    push.queue = (struct push_queue){0};
    atomic_store(&push.pid, 0);
    atomic_store(&push.threads, 0);
    atomic_store(&push.phase, PUSH_OFF);
}

void push_restart(void)
{
    struct error err;

    if (push.options.interval_ns && atomic_load(&push.phase) == PUSH_OFF &&
        !start_threads(&err))
        say_note("no profiles are pushed: %s", err.text);
}
