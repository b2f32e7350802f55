/*
 * What an allocation costs: prints nanoseconds of CPU for a malloc/free pair,
 * the best of many short slices.  Run under LD_PRELOAD by bench/heap_cost.py.
 *
 * usage: alloc_load pair|mix|deep|mt|big SECONDS
 *
 *   pair   64 bytes, freed at once
 *   mix    random replacement among 8192 live blocks, 720 bytes in the mean
 *   deep   the same, 28 frames deep
 *   mt     mix in four threads
 *   big    one calloc of 1 MB stays, then as pair
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LIVE    8192
#define THREADS 4

static int64_t clock_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

struct load {
    void (*slice)(struct load *, unsigned n);
    double seconds;
    uint32_t seed;
    void *live[LIVE];
};

__attribute__((noinline)) static void pair(struct load *l, unsigned n)
{
    (void)l;
    for (unsigned i = 0; i < n; i++) {
        void *p = malloc(64);

        __asm__ volatile("" : "+r"(p) : : "memory");
        free(p);
    }
}

__attribute__((noinline)) static void mix(struct load *l, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        uint32_t r = l->seed = l->seed * 1664525 + 1013904223;
        void **at = &l->live[r >> 8 & (LIVE - 1)];

        free(*at);
        *at = malloc(16 + (r >> 21) * (r >> 28 == 0 ? 8 : 1) / 2);
        *(volatile char *)*at = 1;
    }
}

__attribute__((noinline)) static void down(struct load *l, unsigned n,
                                           int depth)
{
    if (depth)
        down(l, n, depth - 1);
    else
        mix(l, n);
    __asm__ volatile("");
}

static void deep(struct load *l, unsigned n)
{
    down(l, n, 24);
}

/* Nanoseconds a pair: the best slice is the one that nobody disturbed. */
static double run(struct load *l)
{
    int64_t end = clock_ns(CLOCK_MONOTONIC) + (int64_t)(l->seconds * 1e9);
    double best = 1e9;
    unsigned n = 20000;

    l->slice(l, 20000);
    do {
        int64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
        double ns;

        l->slice(l, n);
        ns = (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - start) / n;
        best = ns < best ? ns : best;
    } while (clock_ns(CLOCK_MONOTONIC) < end);
    return best;
}

static void *run_thread(void *arg)
{
    static double results[THREADS];
    static _Atomic int next;
    double *result = &results[next++];

    *result = run(arg);
    return result;
}

static double run_threads(double seconds)
{
    static struct load loads[THREADS];
    pthread_t threads[THREADS];
    double sum = 0;

    for (int i = 0; i < THREADS; i++) {
        loads[i] = (struct load){mix, seconds, (uint32_t)i, {NULL}};
        pthread_create(&threads[i], NULL, run_thread, &loads[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        void *result;

        pthread_join(threads[i], &result);
        sum += *(double *)result;
    }
    return sum / THREADS;
}

int main(int argc, char **argv)
{
    static struct load l = {.slice = pair, .seed = 1};
    void *volatile big;

    if (argc != 3)
        return 2;
    l.seconds = strtod(argv[2], NULL);
    if (strcmp(argv[1], "mt") == 0) {
        printf("%.2f\n", run_threads(l.seconds));
        return 0;
    }
    if (strcmp(argv[1], "big") == 0)
        big = calloc(1, 16 << 20);
    if (strcmp(argv[1], "mix") == 0)
        l.slice = mix;
    else if (strcmp(argv[1], "deep") == 0)
        l.slice = deep;
    printf("%.2f\n", run(&l));
    (void)big;
    return 0;
}
