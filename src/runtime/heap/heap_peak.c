/*
 * SIGNAL CONTEXT: everything here is called where malloc and free are; see
 * the contract in unwind.c.
 */
#include "runtime/heap/heap_peak.h"

#include "base/clock.h"
#include "runtime/heap/heap.h"
#include "runtime/heap/heap_math.h"

#define STEP_SHIFT 7 /* a new maximum is 1/128 above the last one */

/* Records of sites lie one behind the other, all of this size. */
#define SITE_WORDS (sizeof(struct stack_record) / 8 + SITE_FRAMES)

/*
 * The bytes that one sampled block of the site stands for, S/p (heap_math.h).
 * Small blocks are by far the most frequent, and x/(1 - e^-x) with x = S/R is
 * 1 + x/2 + x^2/12 to a tenth of a per cent for x < 1, without the series.
 */
static int64_t weight(const struct stack_record *site)
{
    uint64_t size = heap_tag_size(site->tag);
    uint64_t rate = atomic_load_explicit(&heap.rates[heap_tag_rate(site->tag)],
                                         memory_order_relaxed);
    double x = (double)size / (double)rate;

    if (size == 0 || rate <= 1)
        return (int64_t)size;
    if (x < 1)
        return (int64_t)((double)rate * (1 + x / 2 + x * x / 12));
    return (int64_t)((double)size / heap_probability(size, rate));
}

static void copy(void)
{
    uint64_t used = atomic_load(&heap.sites.used);

    for (uint64_t at = 1;
         at + SITE_WORDS <= used && at + SITE_WORDS <= heap.sites.cap;
         at += SITE_WORDS) {
        struct stack_record *r = (struct stack_record *)(heap.sites.arena + at);
        int64_t frees =
            atomic_load_explicit(&r->values[SITE_FREES], memory_order_relaxed);
        int64_t allocs =
            atomic_load_explicit(&r->values[SITE_ALLOCS], memory_order_relaxed);

        atomic_store_explicit(&r->values[SITE_PEAK], allocs - frees,
                              memory_order_relaxed);
    }
}

static void copy_if_above(struct heap_peak *p, int64_t least)
{
    int64_t now = atomic_load_explicit(&p->in_use, memory_order_relaxed);

    if (now <= least || atomic_exchange(&p->is_copying, true))
        return;
    copy();
    atomic_store_explicit(&p->bytes, now, memory_order_relaxed);
    atomic_store_explicit(&p->time_ns, clock_ns(CLOCK_REALTIME_COARSE),
                          memory_order_relaxed);
    atomic_store(&p->is_copying, false);
}

void heap_peak_grow(struct heap_peak *p, const struct stack_record *site)
{
    atomic_fetch_add_explicit(&p->in_use, weight(site), memory_order_relaxed);
}

void heap_peak_shrink(struct heap_peak *p, const struct stack_record *site)
{
    int64_t last = atomic_load_explicit(&p->bytes, memory_order_relaxed);

    copy_if_above(p, last + (last >> STEP_SHIFT));
    atomic_fetch_sub_explicit(&p->in_use, weight(site), memory_order_relaxed);
}

void heap_peak_settle(struct heap_peak *p)
{
    copy_if_above(p, atomic_load(&p->bytes));
}

void heap_peak_after_fork(struct heap_peak *p)
{
    atomic_store(&p->is_copying, false);
}
