/*
 * The ranges are a fixed array in memory that the process and its copy share:
 * the process alone can read the CPU clocks of its threads, and it can do so
 * only when the copy exists.  The stacks of our own threads are added in the
 * copy, where they can no longer end and leave their memory to others.
 */
#include "runtime/heap/leak_hidden.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "base/pages.h"
#include "elf/maps.h"
#include "runtime/heap/heap.h"
#include "runtime/own_thread.h"
#include "runtime/rawcall.h"
#include "runtime/thread/stack_look.h"

#define MAX_RANGES      (THREADS_MAX + OWN_THREADS_MAX + LIVE_LEVELS + 2)
#define OWN_STACK_BYTES (1u << 20)

/* Below the stack pointer, leaf functions of x86-64 keep values here. */
#define RED_ZONE 128

struct shared {
    _Atomic uint32_t is_checked;
    struct leak_range ranges[MAX_RANGES];
};

bool leak_hidden_init(struct leak_hidden *h)
{
    struct shared *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    *h = (struct leak_hidden){0};
    if (s == MAP_FAILED)
        return false;
    h->ranges = s->ranges;
    h->is_checked = &s->is_checked;
    return true;
}

void leak_hidden_release(struct leak_hidden *h)
{
    if (h->is_checked)
        munmap((void *)h->is_checked, sizeof(struct shared));
    *h = (struct leak_hidden){0};
}

static void add(struct leak_hidden *h, struct leak_range range)
{
    assert(h->n < MAX_RANGES);
    if (range.start < range.limit)
        h->ranges[h->n++] = range;
}

/* The lowest address of the stack that a waiting thread is on; 0 if that is
 * not known, as on a stack that the program has made itself. */
static uint64_t stack_start(const struct thread_info *t,
                            const struct maps *maps)
{
    const struct maps_entry *e;

    if (t->stack_start)
        return t->stack_start;
    e = maps_find(maps, t->registers[0]);
    return e && str_eq(e->path, STR("[stack]")) ? e->start : 0;
}

static void add_dead_stack(struct leak_hidden *h, const struct thread_info *t,
                           const struct maps *maps)
{
    uint64_t start = t->was_blocked ? stack_start(t, maps) : 0;

    if (start)
        add(h, (struct leak_range){start, t->registers[0] - RED_ZONE, t->cpu_ns,
                                   t->tid});
}

static void add_caller(struct leak_hidden *h, uint64_t frame,
                       const struct maps *maps)
{
    const struct maps_entry *e = maps_find(maps, frame);
    uint64_t start = frame - OWN_STACK_BYTES;

    if (e)
        start = e->start > start ? e->start : start;
    add(h, (struct leak_range){.start = start, .limit = frame});
}

static int by_start(const void *a, const void *b)
{
    const struct leak_range *x = a, *y = b;

    return (x->start > y->start) - (x->start < y->start);
}

void leak_hidden_fill(struct leak_hidden *h, const struct threads *threads,
                      struct leak_range table, uint64_t frame)
{
    const struct thread_info *v = threads->v.p;
    struct maps maps;

    h->n = 0;
    atomic_store(h->is_checked, 0);
    add(h, table);
    for (unsigned i = 0; i < LIVE_LEVELS; i++) {
        uint64_t start = (uint64_t)(uintptr_t)atomic_load(&heap.live.levels[i]);

        if (start)
            add(h,
                (struct leak_range){.start = start,
                                    .limit = start + heap_live_level_bytes(i)});
    }
    if (maps_read(&maps, "/proc/self/maps")) {
        add_caller(h, frame, &maps);
        for (size_t i = 0; i < threads->v.n; i++)
            add_dead_stack(h, &v[i], &maps);
    }
    maps_release(&maps);
    qsort(h->ranges, h->n, sizeof(*h->ranges), by_start);
}

void leak_hidden_check(struct leak_hidden *h)
{
    for (size_t i = 0; i < h->n; i++) {
        struct leak_range *r = &h->ranges[i];

        if (r->tid && thread_cpu_ns(r->tid) != r->cpu_ns)
            r->limit = r->start;
    }
    atomic_store(h->is_checked, 1);
}

static void insert(struct leak_hidden *h, struct leak_range range)
{
    size_t i = h->n++;

    assert(i < MAX_RANGES);
    for (; i > 0 && h->ranges[i - 1].start > range.start; i--)
        h->ranges[i] = h->ranges[i - 1];
    h->ranges[i] = range;
}

bool leak_hidden_wait(struct leak_hidden *h, int64_t deadline_ns)
{
    struct own_stack own[OWN_THREADS_MAX];
    size_t n;

    while (!atomic_load(h->is_checked)) {
        struct timespec now = {0}, step = {.tv_nsec = 100000};

        raw_call4(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0, 0);
        if ((int64_t)now.tv_sec * 1000000000 + now.tv_nsec > deadline_ns)
            return false;
        raw_call4(SYS_nanosleep, (long)&step, 0, 0, 0);
    }
    n = own_threads_stacks(own, OWN_THREADS_MAX);
    for (size_t i = 0; i < n; i++)
        insert(h, (struct leak_range){.start = own[i].start,
                                      .limit = own[i].limit});
    return true;
}
