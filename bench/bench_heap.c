/*
 * The heap sampler by itself: what a sampled block costs from malloc to free,
 * what free() pays for its look, before and after ten million samples, and
 * how much memory the tables of a heap of 10 GB need.  Prints JSON lines.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "runtime/heap/heap.h"

#define SAMPLES 10000000
#define LIVE    20480 /* 10 GB at 512 KiB */
#define LOOKS   2000000

static volatile unsigned known;

static uintptr_t block(uint64_t i)
{
    return 0x7f0000000000u + i * 4096;
}

/* Nanoseconds for the look at blocks that are not sampled, best of slices;
 * `step` chooses aligned ones or others. */
static double look(uintptr_t step)
{
    double best = 1e9;

    for (int round = 0; round < 200; round++) {
        int64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
        double ns;

        for (unsigned i = 0; i < LOOKS / 200; i++) {
            const void *p = (const void *)(0x500020000000u + i * step);
            struct live_block b;

            if (heap_may_know(p) && heap_leave(p, &b))
                known++;
        }
        ns =
            (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - start) / (LOOKS / 200);
        best = ns < best ? ns : best;
    }
    return best;
}

__attribute__((noinline)) static double sample(uint64_t from, unsigned n,
                                               uint32_t rate)
{
    int64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID);

    for (unsigned i = 0; i < n; i++) {
        struct live_block b;

        heap_enter((const void *)block(from + i), 64 + (from + i) % 5000, rate,
                   __builtin_return_address(0));
        if (from + i >= LIVE)
            heap_leave((const void *)block(from + i - LIVE), &b);
    }
    return (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - start) / n;
}

/* With so many frames below it. */
__attribute__((noinline)) static double deep(int depth, uint64_t from,
                                             unsigned n, uint32_t rate)
{
    double ns = depth ? deep(depth - 1, from, n, rate) : sample(from, n, rate);

    __asm__ volatile("");
    return ns;
}

static long resident(void)
{
    long all = 0, pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");

    if (f && fscanf(f, "%ld %ld", &all, &pages) != 2)
        pages = 0;
    if (f)
        fclose(f);
    return pages * sysconf(_SC_PAGESIZE);
}

int main(void)
{
    double before, before_aligned, best = 1e9;
    long memory = resident();
    uint64_t at = 0;
    struct error err;

    atomic_store(&heap.has_hooks, true);
    if (!heap_set_rate(524288, &err))
        return 1;
    usleep(200000); /* the unwind tables are made meanwhile */
    at += LIVE;
    deep(24, 0, LIVE, 1);
    printf("{\"bench\":\"heap memory at 10 GB\",\"bytes\":%ld}\n",
           resident() - memory);
    before = look(208);
    before_aligned = look(4096);
    for (; at < SAMPLES; at += 100000) {
        double ns = deep(24, at, 100000, 1);

        best = ns < best ? ns : best;
    }
    printf("{\"bench\":\"heap sample and free, 30 frames\",\"ns\":%.0f}\n",
           best);
    printf("{\"bench\":\"heap free look\",\"ns_before\":%.2f,"
           "\"ns_after_10M\":%.2f}\n",
           before, look(208));
    printf("{\"bench\":\"heap free look, aligned\",\"ns_before\":%.2f,"
           "\"ns_after_10M\":%.2f}\n",
           before_aligned, look(4096));
    return 0;
}
