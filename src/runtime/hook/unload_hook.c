/*
 * dlclose, wrapped: stacks of blocks that a library has allocated outlive it,
 * so what it was is noted before it goes.
 *
 * (dlopen is not: it looks at who calls it.  What was loaded is noticed by the
 * sampler's thread.)
 */
#include <dlfcn.h>

#include "base/clock.h"
#include "pprof/pprof.h"
#include "runtime/heap/heap.h"
#include "runtime/hook/hook_next.h"
#include "runtime/own_code.h"
#include "runtime/state.h"
#include "runtime/unwind/table_builder.h"

/* Who holds the lock may be waiting for the loader, and we may be inside of
 * it: do not wait for long. */
#define PATIENCE_NS 20000000

static void note_modules(void)
{
    struct timespec until = clock_timespec(clock_realtime_ns() + PATIENCE_NS);

    if (pthread_mutex_timedlock(&runtime.lock, &until) != 0)
        return;
    if (runtime.is_ready)
        modules_refresh(&runtime.modules);
    runtime_unlock();
}

PPROF_API OWN_WRAPPER int dlclose(void *library)
{
    static hook_slot next;
    int (*real)(void *);
    int rc;

    *(void **)&real = hook_next(&next, "dlclose");
    if (heap_rate() != 0)
        note_modules();
    rc = real(library);
    /* Another library may get its addresses. */
    table_builder_notice();
    return rc;
}
