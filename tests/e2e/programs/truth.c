/*
 * Spends known shares of its CPU time in four call paths:
 *   50 %  direct_50 -> burn           plain functions without frame pointers
 *   30 %  truth_library_30 -> …       through a shared library and a callback
 *   15 %  recurse_15 (20 deep)        recursion
 *    5 %  thread_5                    in a second thread
 *
 * usage: truth SECONDS HZ FILE
 * Prints the CPU time that it used between start and stop, in nanoseconds.
 */
#include <fcntl.h>
#include <pthread.h>
#include <pprof/pprof.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void truth_library_30(void (*burn)(int64_t), int64_t ns);

static int64_t clock_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Measured in the thread's own CPU time: load on the machine is no matter.
 * The clock is a system call, which costs a third of the time if it is read
 * ten times as often. */
__attribute__((noinline)) static void burn(int64_t ns)
{
    int64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

    do {
        for (volatile int i = 0; i < 20000; i++)
            ;
    } while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end);
}

__attribute__((noinline)) static void direct_50(int64_t ns)
{
    burn(ns);
    __asm__ volatile("");
}

__attribute__((noinline)) static void recurse_15(int depth, int64_t ns)
{
    if (depth)
        recurse_15(depth - 1, ns);
    else
        burn(ns);
    __asm__ volatile("");
}

static int64_t total;

static void *thread_5(void *arg)
{
    int64_t slice = total / 2000;

    for (int i = 0; i < 100; i++) {
        struct timespec nap = {0, 1000000};

        burn(slice);
        nanosleep(&nap, NULL);
    }
    return arg;
}

int main(int argc, char **argv)
{
    struct pprof_cpu_options o = {.size = sizeof(o)};
    pthread_t thread;
    int64_t start, slice;
    int fd;

    if (argc != 4)
        return 2;
    total = (int64_t)(strtod(argv[1], NULL) * 1e9);
    o.rate_hz = (int)strtol(argv[2], NULL, 10);
    fd = open(argv[3], O_WRONLY | O_CREAT | O_TRUNC, 0644);
    start = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    if (pprof_start_cpu_profile_opts(fd, &o) != 0) {
        fprintf(stderr, "%s\n", pprof_last_error());
        return 1;
    }
    pthread_create(&thread, NULL, thread_5, NULL);
    /* In small turns, so that nothing depends on when. */
    slice = total / 50 / 100;
    for (int i = 0; i < 50; i++) {
        direct_50(slice * 50);
        truth_library_30(burn, slice * 30);
        recurse_15(20, slice * 15);
    }
    pthread_join(thread, NULL);
    printf("%lld\n", (long long)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start));
    if (pprof_stop_cpu_profile() != 0) {
        fprintf(stderr, "%s\n", pprof_last_error());
        return 1;
    }
    return 0;
}
