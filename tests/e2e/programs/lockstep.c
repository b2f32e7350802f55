/*
 * A loop in step with the sampling interval: every PERIOD_US of CPU time it
 * spends 50, 30, 15 and 5 % in four functions, at times that are multiples of
 * the period on the thread's CPU clock.
 *
 * usage: lockstep SECONDS HZ PERIOD_US FILE [thread]
 *
 * "thread" runs it in a thread that starts after the profile.  Prints the CPU
 * time between start and stop and what each function really used, in
 * nanoseconds.
 */
#include <fcntl.h>
#include <pprof/pprof.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds;
static int64_t period_ns;
static int64_t used[4];

static int64_t clock_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Until the thread's clock says so; adds what it took. */
#define PART(name, index)                                                      \
    __attribute__((noinline)) static void name(int64_t until)                  \
    {                                                                          \
        int64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID), now;                \
                                                                               \
        do {                                                                   \
            for (volatile int i = 0; i < 1000; i++)                            \
                ;                                                              \
            now = clock_ns(CLOCK_THREAD_CPUTIME_ID);                           \
        } while (now < until);                                                 \
        used[index] += now - start;                                            \
    }

PART(part_50, 0)
PART(part_30, 1)
PART(part_15, 2)
PART(part_5, 3)

static void *loop(void *arg)
{
    int64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    int64_t rounds = (int64_t)(seconds * 1e9) / period_ns;

    for (int64_t i = 0; i < rounds; i++) {
        int64_t begin = start + i * period_ns;

        part_50(begin + period_ns * 50 / 100);
        part_30(begin + period_ns * 80 / 100);
        part_15(begin + period_ns * 95 / 100);
        part_5(begin + period_ns);
    }
    return arg;
}

static int run(const char *how)
{
    pthread_t thread;

    if (strcmp(how, "thread") != 0)
        return loop(NULL) != NULL;
    return pthread_create(&thread, NULL, loop, NULL) != 0 ||
           pthread_join(thread, NULL) != 0;
}

int main(int argc, char **argv)
{
    struct pprof_cpu_options o = {.size = sizeof(o)};
    int64_t start;
    int fd;

    if (argc < 5)
        return 2;
    seconds = strtod(argv[1], NULL);
    o.rate_hz = (int)strtol(argv[2], NULL, 10);
    period_ns = (int64_t)(strtod(argv[3], NULL) * 1000);
    fd = open(argv[4], O_WRONLY | O_CREAT | O_TRUNC, 0644);
    start = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    if (pprof_start_cpu_profile_opts(fd, &o) != 0) {
        fprintf(stderr, "%s\n", pprof_last_error());
        return 1;
    }
    if (run(argc > 5 ? argv[5] : ""))
        return 1;
    printf("%lld", (long long)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start));
    for (int i = 0; i < 4; i++)
        printf(" %lld", (long long)used[i]);
    printf("\n");
    if (pprof_stop_cpu_profile() != 0) {
        fprintf(stderr, "%s\n", pprof_last_error());
        return 1;
    }
    return 0;
}
