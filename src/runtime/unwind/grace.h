#ifndef RUNTIME_UNWIND_GRACE_H
#define RUNTIME_UNWIND_GRACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Lets signal handlers read what another thread replaces and frees.
 *
 * A reader enters, loads the shared pointer, uses it, leaves; two atomic
 * additions, no waiting.  Who replaces: stores the new pointer, then
 * grace_wait(); when that says true no reader can hold the old one any more.
 * It turns the epoch twice, because a reader may sleep between reading the
 * epoch and counting itself.
 */
struct grace {
    _Atomic uint32_t epoch;
    _Atomic uint32_t readers[2];
};

static inline unsigned grace_enter(struct grace *g)
{
    unsigned e = atomic_load_explicit(&g->epoch, memory_order_relaxed) & 1;

    atomic_fetch_add(&g->readers[e], 1);
    return e;
}

static inline void grace_leave(struct grace *g, unsigned e)
{
    atomic_fetch_sub_explicit(&g->readers[e], 1, memory_order_release);
}

/* False when readers did not leave within timeout_ns: then do not free. */
bool grace_wait(struct grace *g, int64_t timeout_ns);

/* In a forked child: the readers stayed behind in the parent. */
static inline void grace_reset(struct grace *g)
{
    atomic_store(&g->readers[0], 0);
    atomic_store(&g->readers[1], 0);
}

#endif
