/*
 * Two threads whose pattern is known: "napper" runs for 20 ms of CPU time and
 * sleeps for 40 ms, again and again; "runner" never sleeps.  Serves
 * /debug/pprof/ where PPROF_ADDR says.
 */
#include <pprof/pprof.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static int64_t cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static __attribute__((noinline)) void work(int64_t ns)
{
    int64_t end = cpu_ns() + ns;

    while (cpu_ns() < end)
        for (volatile int i = 0; i < 1000; i++)
            ;
}

static void *napper(void *arg)
{
    struct timespec nap = {0, 40000000};

    pthread_setname_np(pthread_self(), "napper");
    for (;;) {
        work(20000000);
        nanosleep(&nap, NULL);
    }
    return arg;
}

static void *runner(void *arg)
{
    pthread_setname_np(pthread_self(), "runner");
    for (;;)
        work(1000000);
    return arg;
}

int main(void)
{
    pthread_t t;

    if (pprof_serve(NULL) != 0 || pthread_create(&t, NULL, napper, NULL) != 0 ||
        pthread_create(&t, NULL, runner, NULL) != 0) {
        fprintf(stderr, "%s\n", pprof_last_error());
        return 1;
    }
    for (;;)
        pause();
}
