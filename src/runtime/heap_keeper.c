#include "runtime/heap_keeper.h"

#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "runtime/builder.h"
#include "runtime/heap.h"
#include "runtime/serve.h"
#include "runtime/state.h"

/* Between two looks at what is loaded; generated code without unwind data
 * can be met at any time, so looking in vain makes the next look later. */
#define LOOK_NS     ((int64_t)50000000)
#define LOOK_MAX_NS ((int64_t)5000000000)

static _Atomic bool is_up;

/* Until the sampler says that its map is stale. */
static void wait_for_stale(void)
{
    while (atomic_load(&heap.stale) == 0)
        syscall(SYS_futex, &heap.stale, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

static uint64_t n_refreshes(void)
{
    uint64_t n;

    runtime_lock();
    n = runtime.modules.refreshes;
    runtime_unlock();
    return n;
}

static void *keep(void *arg)
{
    int64_t pause = LOOK_NS;

    (void)arg;
    runtime_own_thread_enter();
    for (;;) {
        uint64_t before = n_refreshes();

        wait_for_stale();
        atomic_store(&heap.stale, 0);
        builder_refresh();
        pause = n_refreshes() != before ? LOOK_NS : pause * 2;
        pause = pause < LOOK_MAX_NS ? pause : LOOK_MAX_NS;
        runtime_sleep_ns(pause);
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
