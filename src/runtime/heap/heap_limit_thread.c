/*
 * A thread and not a signal or a hook in malloc: the limit is that of a group
 * of processes, and memory can run out while this program allocates nothing.
 */
#include "runtime/heap/heap_limit_thread.h"

#include <stdatomic.h>

#include "runtime/heap/heap_limit.h"
#include "runtime/own_thread.h"
#include "runtime/state.h"

static _Atomic bool is_up;

static void *keep(void *arg)
{
    (void)arg;
    own_thread_enter();
    for (;;)
        runtime_sleep_ns(heap_limit_look());
    return NULL;
}

bool heap_limit_thread_start(struct error *err)
{
    pthread_t thread;

    if (!heap_limit_is_set() || atomic_exchange(&is_up, true))
        return true;
    if (!own_thread_start(&thread, "pprof-heap", keep, NULL, err)) {
        atomic_store(&is_up, false);
        return false;
    }
    pthread_detach(thread);
    return true;
}

void heap_limit_thread_after_fork(bool lives_on)
{
    struct error err;

    if (atomic_exchange(&is_up, false) && lives_on)
        heap_limit_thread_start(&err); /* else the child has none */
}
