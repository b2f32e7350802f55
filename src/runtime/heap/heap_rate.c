/*
 * The heap sampler's rates: switching it on and off.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/str.h"
#include "runtime/heap/heap.h"
#include "runtime/heap/heap_limit.h"
#include "runtime/heap/heap_limit_thread.h"
#include "runtime/state.h"
#include "runtime/unwind/table_builder.h"

/* 77,000 stacks of 20 frames, 200,000 pairs of stack and size.  Touched as
 * they fill. */
#define STACK_BYTES (16u << 20)
#define STACK_SLOTS (1u << 17)
#define SITE_BYTES  (32u << 20)
#define SITE_SLOTS  (1u << 18)

/* The number of a rate, a new one if need be; 0: there are too many. */
static uint32_t rate_number(uint64_t rate)
{
    for (uint32_t i = 1; i < HEAP_MAX_RATES; i++) {
        uint64_t none = 0;

        if (atomic_load(&heap.rates[i]) == rate ||
            atomic_compare_exchange_strong(&heap.rates[i], &none, rate) ||
            none == rate)
            return i;
    }
    return 0;
}

/* Room for what will find none. */
static void reserve_sites(uint32_t rate)
{
    for (unsigned bit = 0; bit < 47; bit++)
        heap_site_without_room((uint64_t)1 << bit, rate);
}

static bool make_tables(struct error *err)
{
    if (heap.sites.arena)
        return true;
    heap.start_ns = clock_monotonic_ns();
    if (!stack_table_init(&heap.stacks, STACK_SLOTS, STACK_BYTES))
        return error_set(err, "out of memory");
    if (!stack_table_init(&heap.sites, SITE_SLOTS, SITE_BYTES)) {
        stack_table_release(&heap.stacks);
        return error_set(err, "out of memory");
    }
    return true;
}

static const char *how_to_hook(void)
{
    return heap.hint ? heap.hint
                     : "needs the hooks: preload libpprof-preload.so or link "
                       "libpprof-hooks";
}

bool heap_set_rate(uint64_t rate, struct error *err)
{
    uint32_t number = 0;

    if (!atomic_load(&heap.has_hooks))
        return error_set(err, "no heap profile: %s", how_to_hook());
    if (!runtime_ready(err))
        return false;
    runtime_lock();
    if (!make_tables(err)) {
        runtime_unlock();
        return false;
    }
    if (rate > 0)
        number = rate_number(rate);
    if (number)
        reserve_sites(number);
    if (rate == 0 || number)
        atomic_store(&heap.rate, number);
    runtime_unlock();
    heap_thread.left = 0;
    heap_thread.rate = 0;
    if (rate > 0 && !number)
        return error_set(err, "too many different rates");
    if (rate > 0)
        table_builder_refresh();
    return rate == 0 || heap_limit_thread_start(err);
}

bool heap_start(struct error *err)
{
    const char *text = getenv("PPROF_MEM_RATE");
    uint64_t rate = HEAP_RATE_DEFAULT;

    heap_limit_is_set(); /* later the environment may be another */
    if (text && !str_to_u64(str_from(text), 10, &rate))
        rate = HEAP_RATE_DEFAULT;
    return heap_set_rate(rate, err);
}

uint64_t heap_rate(void)
{
    return atomic_load(&heap.rates[atomic_load(&heap.rate)]);
}

const char *heap_switched_off(void)
{
    static char text[256]; /* always the same */

    if (!atomic_load(&heap.has_hooks))
        return how_to_hook();
    if (heap.taken_by[0]) {
        snprintf(text, sizeof(text),
                 "the malloc of %s comes first; name our library before it",
                 heap.taken_by);
        return text;
    }
    if (heap_rate() == 0)
        return "set PPROF_MEM_RATE to a number of bytes, 524288 for example, "
               "or call pprof_set_mem_profile_rate()";
    return NULL;
}
