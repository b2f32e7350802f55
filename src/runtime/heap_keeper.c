#include "runtime/heap_keeper.h"

#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "runtime/builder.h"
#include "runtime/heap.h"
#include "runtime/heap_limit.h"
#include "runtime/serve.h"
#include "runtime/state.h"

/* Between two looks at what is loaded; generated code without unwind data
 * can be met at any time, so looking in vain makes the next look later. */
#define LOOK_NS     ((int64_t)50000000)
#define LOOK_MAX_NS ((int64_t)5000000000)

static _Atomic bool is_up;

/* Until the sampler says that its map is stale, or so long; less than 0: for
 * ever. */
static void wait_for_stale(int64_t ns)
{
    struct timespec t = clock_timespec(ns);

    if (atomic_load(&heap.stale) == 0)
        syscall(SYS_futex, &heap.stale, FUTEX_WAIT_PRIVATE, 0,
                ns < 0 ? NULL : &t, NULL, 0);
}

static uint64_t n_refreshes(void)
{
    uint64_t n;

    runtime_lock();
    n = runtime.modules.refreshes;
    runtime_unlock();
    return n;
}

/* Has what is loaded read again; later when that was in vain. */
static void refresh(int64_t *pause_ns)
{
    uint64_t before = n_refreshes();

    atomic_store(&heap.stale, 0);
    builder_refresh();
    *pause_ns = n_refreshes() != before ? LOOK_NS : *pause_ns * 2;
    *pause_ns = *pause_ns < LOOK_MAX_NS ? *pause_ns : LOOK_MAX_NS;
}

static void *keep(void *arg)
{
    bool has_limit = heap_limit_is_set();
    int64_t pause = LOOK_NS, not_before = 0, wait = -1;

    (void)arg;
    runtime_own_thread_enter();
    for (;;) {
        int64_t now = clock_monotonic_ns();

        if (has_limit)
            wait = heap_limit_look();
        if (atomic_load(&heap.stale) && now >= not_before) {
            refresh(&pause);
            not_before = clock_monotonic_ns() + pause;
        }
        if (atomic_load(&heap.stale)) /* but not yet */
            runtime_sleep_ns(has_limit && wait < LOOK_NS ? wait : LOOK_NS);
        else
            wait_for_stale(wait);
    }
    return NULL;
}

bool heap_keeper_start(struct error *err)
{
    pthread_t thread;

    if (atomic_exchange(&is_up, true))
        return true;
    if (!runtime_thread(&thread, "pprof-heap", keep, NULL, err)) {
        atomic_store(&is_up, false);
        return false;
    }
    pthread_detach(thread);
    return true;
}

void heap_keeper_after_fork(void)
{
    struct error err;

    if (atomic_exchange(&is_up, false) && serve_address()[0])
        heap_keeper_start(&err); /* else stacks are cut in new libraries */
}
