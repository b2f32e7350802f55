/*
 * The walker in somebody else's program, where caches are cold.
 *
 *     LD_PRELOAD=build/bench/libbench_cold.so clang -O2 -c big.cc
 *
 * Interrupts the program every millisecond, walks, and prints at its end one
 * JSON line on stderr: nanoseconds a frame (the middle 80 % of the walks),
 * depth, how stacks ended, and with BENCH_COLD_CHECK=1, which spoils the
 * times, how many equal libunwind's.  With BENCH_COLD_NO_TABLES=1 the walks
 * are those of the first moments, before tables are built.
 */
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "runtime/unwind/modules.h"
#include "runtime/unwind/unwind.h"

#define MAX_WALKS 20000

static struct modules modules;
static struct {
    float ns_per_frame[MAX_WALKS];
    size_t n;
    size_t frames, exact, ends[UNWIND_ENDS];
    double refresh_ms, build_ms;
    bool check;
} seen;

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static bool equals_libunwind(ucontext_t *uc, const uint64_t *ours, size_t n)
{
    unw_cursor_t c;
    unw_word_t ip;
    size_t i = 0;

    if (unw_init_local2(&c, uc, UNW_INIT_SIGNAL_FRAME) < 0)
        return false;
    do {
        if (unw_get_reg(&c, UNW_REG_IP, &ip) < 0 || ip == 0)
            break;
        /* Signal frames aside, which stand for an exact pc. */
        if (i >= n || (ours[i] != ip && ours[i] != ip - 1))
            return false;
        i++;
    } while (i < UNWIND_MAX_FRAMES && unw_step(&c) > 0);
    return i == n;
}

static void on_tick(int sig, siginfo_t *info, void *context)
{
    static uint64_t pcs[UNWIND_MAX_FRAMES];
    static volatile sig_atomic_t busy;
    struct unwind_regs regs = unwind_regs_from(context);
    enum unwind_end end;
    double t;
    size_t n;

    (void)sig;
    (void)info;
    if (seen.n == MAX_WALKS || busy)
        return;
    busy = 1;
    t = now_ns();
    n = unwind_walk(modules.map, &regs, (struct unwind_stack){0}, pcs,
                    UNWIND_MAX_FRAMES, &end);
    t = now_ns() - t;
    seen.ns_per_frame[seen.n++] = (float)(t / (double)n);
    seen.frames += n;
    seen.ends[end]++;
    if (seen.check)
        seen.exact += equals_libunwind(context, pcs, n);
    busy = 0;
}

__attribute__((constructor)) static void begin(void)
{
    struct itimerval t = {{0, 1000}, {0, 1000}};
    struct sigaction sa = {.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    double start = now_ns();

    seen.check = getenv("BENCH_COLD_CHECK") != NULL;
    if (!modules_init(&modules))
        return;
    seen.refresh_ms = (now_ns() - start) / 1e6;
    start = now_ns();
    if (!getenv("BENCH_COLD_NO_TABLES"))
        modules_build_all(&modules);
    seen.build_ms = (now_ns() - start) / 1e6;
    sa.sa_sigaction = on_tick;
    sigaction(SIGALRM, &sa, NULL);
    setitimer(ITIMER_REAL, &t, NULL);
}

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

__attribute__((destructor)) static void print(void)
{
    struct itimerval none = {{0, 0}, {0, 0}};
    double sum = 0;
    size_t first = seen.n / 10, last = seen.n - seen.n / 10;

    setitimer(ITIMER_REAL, &none, NULL);
    if (seen.n < 20)
        return;
    qsort(seen.ns_per_frame, seen.n, sizeof(float), by_value);
    for (size_t i = first; i < last; i++)
        sum += seen.ns_per_frame[i];
    fprintf(stderr,
            "{\"bench\": \"cold unwind\", \"walks\": %zu, \"depth\": %.1f, "
            "\"ns_per_frame\": %.0f, \"complete\": %zu, \"truncated\": %zu, "
            "\"no_data\": %zu, \"broken\": %zu, \"exact\": %zd, "
            "\"table_bytes\": %zu, \"refresh_ms\": %.2f, \"build_ms\": %.1f}\n",
            seen.n, (double)seen.frames / (double)seen.n,
            sum / (double)(last - first), seen.ends[0], seen.ends[1],
            seen.ends[2], seen.ends[3],
            seen.check ? (ssize_t)seen.exact : (ssize_t)-1,
            modules_bytes(&modules), seen.refresh_ms, seen.build_ms);
}
