#include "runtime/heap_keeper.h"

#include <stdatomic.h>

#include "runtime/heap_limit.h"
#include "runtime/serve.h"
#include "runtime/state.h"

static _Atomic bool is_up;

static void *keep(void *arg)
{
    (void)arg;
    runtime_own_thread_enter();
    for (;;)
        runtime_sleep_ns(heap_limit_look());
    return NULL;
}

bool heap_keeper_start(struct error *err)
{
    pthread_t thread;

    if (!heap_limit_is_set() || atomic_exchange(&is_up, true))
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
        heap_keeper_start(&err); /* else the child has none */
}
