/*
 * The functions of <pprof/pprof.h> that set sampling rates.
 */
#include <errno.h>
#include <stdatomic.h>

#include "pprof/pprof.h"
#include "runtime/api.h"
#include "runtime/heap/heap.h"
#include "runtime/lock/locks.h"

int pprof_set_mem_profile_rate(long long bytes)
{
    struct error err = {""};

    if (heap_set_rate(bytes > 0 ? (uint64_t)bytes : 0, &err))
        return 0;
    return api_fail(atomic_load(&heap.has_hooks) ? ENOMEM : ENOTSUP, &err);
}

static int lock_failure(const struct error *err)
{
    return api_fail(lock_watch.has_hooks ? ENOMEM : ENOTSUP, err);
}

int pprof_set_block_profile_rate(long long ns)
{
    struct error err;

    return locks_set_block_rate(ns, &err) ? 0 : lock_failure(&err);
}

int pprof_set_mutex_profile_fraction(int n)
{
    int before = (int)locks_mutex_fraction();
    struct error err;

    return n < 0 || locks_set_mutex_fraction(n, &err) ? before
                                                      : lock_failure(&err);
}
