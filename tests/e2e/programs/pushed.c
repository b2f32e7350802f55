/*
 * A program whose profiles are pushed.
 *
 *   pushed spin SECONDS [END]   uses CPU time in work(); END is exit (the
 *                               default), _exit, quick_exit, term, kill, abort
 *   pushed exec SECONDS PROGRAM ARGUMENT…  the same, then becomes PROGRAM
 *   pushed fork SECONDS         the same in a child, which it waits for
 *   pushed daemon SECONDS FILE  the same after daemon(3); writes FILE at the
 *                               end
 *   pushed latency SECONDS      prints how often its thread had to wait, and
 *                               how many rounds of a loop took how long
 *   pushed memory SECONDS       prints the most memory that it had, in MB
 *   pushed count N              does N times the same
 *   pushed api URL SECONDS      pushes by the C API, with two starts
 */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pprof/pprof.h"

static volatile double sink;
static void *kept[64];

static double now(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

__attribute__((noinline)) static void work_once(void)
{
    for (int i = 0; i < 20000; i++)
        sink += i;
}

/* Seconds of CPU time; keeps some memory. */
__attribute__((noinline)) static void work(double seconds)
{
    double end = now(CLOCK_THREAD_CPUTIME_ID) + seconds;

    for (unsigned i = 0; now(CLOCK_THREAD_CPUTIME_ID) < end; i++) {
        work_once();
        if (i < 64)
            kept[i] = malloc(256 << 10);
    }
    sink += kept[0] != NULL;
}

static int end_as(const char *how)
{
    if (strcmp(how, "_exit") == 0)
        _exit(7);
    if (strcmp(how, "quick_exit") == 0)
        quick_exit(7);
    if (strcmp(how, "term") == 0)
        raise(SIGTERM);
    if (strcmp(how, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(how, "abort") == 0)
        abort();
    return 7;
}

static int work_in_child(double seconds)
{
    pid_t pid = fork();
    int status = 0;

    if (pid == 0) {
        work(seconds);
        exit(5);
    }
    waitpid(pid, &status, 0);
    printf("%d %d\n", (int)pid, WEXITSTATUS(status));
    return 0;
}

static int work_as_daemon(double seconds, const char *path)
{
    FILE *f;

    if (daemon(1, 0) != 0)
        return 1;
    work(seconds);
    f = fopen(path, "w");
    fprintf(f, "%d\n", (int)getpid());
    fclose(f);
    return 0;
}

/* Rounds of about a millisecond, as a server has requests.  A thread that had
 * to wait for somebody has switched by its own will; one that the scheduler
 * took off its CPU has not. */
static int measure_latency(double seconds)
{
    double end = now(CLOCK_MONOTONIC) + seconds;
    unsigned buckets[5] = {0}; /* below 2, 5, 10, 50 ms, and more */
    struct rusage u;

    while (now(CLOCK_MONOTONIC) < end) {
        double start = now(CLOCK_MONOTONIC), ms;

        for (int i = 0; i < 50; i++)
            work_once();
        free(malloc(4096));
        ms = 1000 * (now(CLOCK_MONOTONIC) - start);
        buckets[(ms >= 2) + (ms >= 5) + (ms >= 10) + (ms >= 50)]++;
    }
    getrusage(RUSAGE_THREAD, &u);
    printf("%ld %u %u %u %u %u\n", u.ru_nvcsw, buckets[0], buckets[1],
           buckets[2], buckets[3], buckets[4]);
    return 0;
}

static int push_by_api(const char *url, double seconds)
{
    struct pprof_push_options o = {.size = sizeof(o),
                                   .collector = url,
                                   .service = "by-api",
                                   .labels = "version=1",
                                   .interval_seconds = 1,
                                   .cpu_seconds = 1};
    struct pprof_push_options bad = o;

    bad.profiles = "cpu,nonsense";
    if (pprof_push_start(&bad) != -EINVAL ||
        !strstr(pprof_last_error(), "nonsense"))
        return 1;
    if (pprof_push_start(&o) != 0 || pprof_push_start(&o) != -EALREADY ||
        pprof_push_start(NULL) != 0)
        return 2;
    work(seconds);
    pprof_push_stop();
    o.labels = "version=2";
    if (pprof_push_start(&o) != 0) {
        fprintf(stderr, "%s\n", pprof_last_error());
        return 3;
    }
    work(seconds);
    puts("done");
    return 7;
}

static double peak_mb(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (double)u.ru_maxrss / 1024;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 2 ? argv[1] : "";
    double seconds = argc > 2 ? atof(argv[2]) : 0;

    if (strcmp(mode, "spin") == 0) {
        work(seconds);
        printf("done\n");
        fflush(stdout);
        return end_as(argc > 3 ? argv[3] : "exit");
    }
    if (strcmp(mode, "exec") == 0 && argc > 3) {
        work(seconds);
        execvp(argv[3], argv + 3);
        return 1;
    }
    if (strcmp(mode, "count") == 0) {
        for (double i = 0; i < seconds; i++)
            work_once();
        return 0;
    }
    if (strcmp(mode, "fork") == 0)
        return work_in_child(seconds);
    if (strcmp(mode, "daemon") == 0 && argc > 3)
        return work_as_daemon(seconds, argv[3]);
    if (strcmp(mode, "latency") == 0)
        return measure_latency(seconds);
    if (strcmp(mode, "memory") == 0) {
        work(seconds);
        printf("%.1f\n", peak_mb());
        return 0;
    }
    if (strcmp(mode, "api") == 0 && argc > 3)
        return push_by_api(argv[2], atof(argv[3]));
    return 2;
}
