/*
 * Nanoseconds a frame of four walkers on the same stack: ours, libunwind's
 * unw_backtrace, glibc's backtrace(), a plain frame-pointer walk (this file
 * is compiled with frame pointers, so that there are some).  Best of many
 * slices of CPU time; one JSON line each.
 *
 * `bench_unwind DEPTH` (20 by default).
 */
#define UNW_LOCAL_ONLY
#include <dlfcn.h>
#include <execinfo.h>
#include <libunwind.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "elf/maps.h"
#include "runtime/unwind/modules.h"
#include "runtime/unwind/unwind.h"

#define SLICES 200
#define CALLS  200

static struct modules modules;
static uint64_t stack_limit;
static void *frames[UNWIND_MAX_FRAMES];
static uint64_t pcs[UNWIND_MAX_FRAMES];
static int (*glibc_backtrace)(void **, int);

static __attribute__((noinline)) size_t walk_ours(void)
{
    struct unwind_regs r;
    enum unwind_end end;

    unwind_regs_here(&r);
    return unwind_walk(modules.map, &r, (struct unwind_stack){stack_limit}, pcs,
                       UNWIND_MAX_FRAMES, &end);
}

static __attribute__((noinline)) size_t walk_ours_probing(void)
{
    struct unwind_regs r;
    enum unwind_end end;

    unwind_regs_here(&r);
    return unwind_walk(modules.map, &r, (struct unwind_stack){0}, pcs,
                       UNWIND_MAX_FRAMES, &end);
}

static __attribute__((noinline)) size_t walk_unw(void)
{
    return (size_t)unw_backtrace(frames, UNWIND_MAX_FRAMES);
}

/* libunwind exports a backtrace() of its own; we want glibc's. */
static __attribute__((noinline)) size_t walk_glibc(void)
{
    return (size_t)glibc_backtrace(frames, UNWIND_MAX_FRAMES);
}

static __attribute__((noinline)) size_t walk_fp(void)
{
    uint64_t *fp = __builtin_frame_address(0);
    size_t n = 0;

    while (n < UNWIND_MAX_FRAMES && fp && (uint64_t)fp < stack_limit) {
        uint64_t *next = (uint64_t *)fp[0];

        pcs[n++] = fp[1];
        if (next <= fp)
            break;
        fp = next;
    }
    return n;
}

static double cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void measure(const char *name, size_t (*walk)(void))
{
    double best = 1e18;
    size_t n = walk();

    for (int s = 0; s < SLICES; s++) {
        double t = cpu_ns();

        for (int i = 0; i < CALLS; i++)
            walk();
        t = (cpu_ns() - t) / CALLS;
        best = t < best ? t : best;
    }
    printf("{\"bench\": \"unwind\", \"walker\": \"%s\", \"frames\": %zu, "
           "\"ns_per_stack\": %.0f, \"ns_per_frame\": %.1f}\n",
           name, n, best, best / (double)n);
}

static void measure_all(void)
{
    measure("pprof", walk_ours);
    measure("pprof, stack bounds unknown", walk_ours_probing);
    measure("libunwind unw_backtrace", walk_unw);
    if (glibc_backtrace)
        measure("glibc backtrace", walk_glibc);
    measure("frame pointers", walk_fp);
}

static __attribute__((noinline)) void descend(int depth)
{
    if (depth > 0)
        descend(depth - 1);
    else
        measure_all();
    __asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
    void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    struct maps maps;
    const struct maps_entry *e;

    if (libc)
        *(void **)&glibc_backtrace = dlsym(libc, "backtrace");
    if (!modules_init(&modules) || !maps_read(&maps, "/proc/self/maps"))
        return 1;
    modules_build_all(&modules);
    e = maps_find(&maps, (uint64_t)&maps);
    stack_limit = e ? e->limit : 0;
    descend(argc > 1 ? (int)strtol(argv[1], NULL, 10) : 20);
    return 0;
}
