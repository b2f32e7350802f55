/*
 * What hooks call.  SIGNAL CONTEXT; see the contract in unwind.c.
 */
#include "runtime/heap/heap.h"

#include <assert.h>
#include <errno.h>
#include <time.h>

#include "base/clock.h"
#include "runtime/cpu/sigprof.h"
#include "runtime/heap/heap_math.h"

/* Frames of ours between the walker and the hook. */
#define OWN_FRAMES 8

struct heap heap;
__thread struct heap_thread heap_thread
    __attribute__((tls_model("initial-exec")));

static void add(_Atomic uint64_t *counter)
{
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* Where the thread's block of thread-locals is and a counter: two threads
 * never start alike. */
static void seed(struct heap_thread *t)
{
    static _Atomic uint64_t threads;
    uint64_t x = (uint64_t)(uintptr_t)t ^ (uint64_t)heap.start_ns;

    x += (atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed) + 1) *
         0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    t->seed = (x ^ x >> 31) | 1;
}

static void draw(struct heap_thread *t, uint32_t rate)
{
    if (t->seed == 0)
        seed(t);
    t->rate = rate;
    t->left = heap_distance(
        atomic_load_explicit(&heap.rates[rate], memory_order_relaxed),
        &t->seed);
}

uint32_t heap_due(size_t size)
{
    struct heap_thread *t = &heap_thread;
    uint32_t now = atomic_load_explicit(&heap.rate, memory_order_relaxed);
    uint32_t drawn = t->rate;

    if (now == 0 || (t->busy & (HEAP_BUSY_OWN | HEAP_BUSY_RESOLVE))) {
        t->rate = 0;
        t->left = HEAP_RECHECK_BYTES;
        return 0;
    }
    if (drawn == 0) {
        draw(t, now);
        t->left -= (int64_t)size;
        if (t->left > 0)
            return 0;
        drawn = now;
    }
    draw(t, now);
    if (t->busy) {
        add(&heap.nested);
        return 0;
    }
    return drawn;
}

/* By the vDSO: no system call. */
static uint32_t now_for_born(void)
{
    return (uint32_t)((clock_ns(CLOCK_MONOTONIC_COARSE) - heap.start_ns) /
                      HEAP_BORN_NS);
}

/* One block more or, by -1, less. */
static void filter_add(uint64_t address, int by)
{
    atomic_fetch_add(heap_filter(address), (uint16_t)by);
    if (address % HEAP_ALIGN != 0)
        atomic_fetch_add(&heap.unaligned, (uint32_t)by);
}

static struct stack_record *site_at(uint32_t offset)
{
    assert(offset > 0 && offset < heap.sites.cap);
    return (struct stack_record *)(heap.sites.arena + offset);
}

/* The entry of a stack, labels, size and rate; NULL: no room. */
static struct stack_record *site_of(const uint64_t *pcs, size_t n,
                                    uint32_t labels, uint64_t tag)
{
    struct stack_record *stack = stack_table_add(&heap.stacks, pcs, n, 0);
    uint64_t frames[SITE_FRAMES] = {[SITE_LABELS] = labels};

    if (!stack)
        return NULL;
    frames[SITE_STACK] = (uint64_t)((uint64_t *)stack - heap.stacks.arena);
    return stack_table_add(&heap.sites, frames, SITE_FRAMES, tag);
}

/* The thread's labels, while there is plenty of room: a label that is new
 * with every request must not use up the table, which would cost stacks. */
static uint32_t current_labels(void)
{
    uint32_t labels = pprof_thread.labels;

    if (!labels ||
        atomic_load_explicit(&heap.sites.used, memory_order_relaxed) <
            heap.sites.cap / 2)
        return labels;
    add(&heap.unlabelled);
    return 0;
}

/* What finds no room in the tables is counted here, by the next power of two:
 * for blocks that are small beside the rate it makes no difference to the
 * bytes that they stand for. */
struct stack_record *heap_site_without_room(uint64_t size, uint32_t rate)
{
    uint64_t pc = FRAME_NO_ROOM, class = 1;

    while (class < size)
        class *= 2;
    return site_of(&pc, 1, 0, heap_tag(class, rate));
}

static struct stack_record *find_site(uint64_t size, uint32_t rate,
                                      const void *return_address)
{
    uint64_t pcs[HEAP_MAX_FRAMES + OWN_FRAMES + 1];
    struct stack_record *site;
    enum unwind_end end;
    size_t n = sigprof_stack_from(return_address, pcs,
                                  HEAP_MAX_FRAMES + OWN_FRAMES, &end);

    if (n > HEAP_MAX_FRAMES) {
        n = HEAP_MAX_FRAMES;
        end = UNWIND_TRUNCATED;
    }
    if (end == UNWIND_TRUNCATED)
        pcs[n++] = FRAME_TRUNCATED;
    add(&heap.ends[end]);
    site = site_of(pcs, n, current_labels(), heap_tag(size, rate));
    if (site)
        return site;
    add(&heap.no_room);
    return heap_site_without_room(size, rate);
}

static void enter(const void *p, size_t size, uint32_t rate,
                  const void *return_address)
{
    struct stack_record *site = find_site(size, rate, return_address);
    struct live_block block = {(uint64_t)(uintptr_t)p, 0, now_for_born()}, old;

    add(&heap.samples);
    if (!site) {
        add(&heap.lost);
        return;
    }
    /* An old block at the same place was freed behind our back. */
    heap_leave(p, &old);
    block.site = (uint32_t)((uint64_t *)site - heap.sites.arena);
    stack_record_count(site, SITE_ALLOCS, 1);
    if (!heap_live_add(&heap.live, &block)) {
        stack_record_count(site, SITE_FREES, 1);
        add(&heap.lost);
        return;
    }
    filter_add(block.address, 1);
    heap_peak_grow(&heap.peak, site);
}

void heap_enter(const void *p, size_t size, uint32_t rate,
                const void *return_address)
{
    int saved = errno;

    heap_thread.busy |= HEAP_BUSY_SAMPLE;
    enter(p, size, rate, return_address);
    heap_thread.busy &= ~(uint32_t)HEAP_BUSY_SAMPLE;
    errno = saved;
}

bool heap_leave(const void *p, struct live_block *out)
{
    if (!heap_live_remove(&heap.live, (uint64_t)(uintptr_t)p, out))
        return false;
    filter_add(out->address, -1);
    heap_peak_shrink(&heap.peak, site_at(out->site));
    stack_record_count(site_at(out->site), SITE_FREES, 1);
    return true;
}

void heap_reenter(const struct live_block *block)
{
    if (!heap_live_add(&heap.live, block))
        return;
    filter_add(block->address, 1);
    stack_record_count(site_at(block->site), SITE_FREES, -1);
    heap_peak_grow(&heap.peak, site_at(block->site));
}
