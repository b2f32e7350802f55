/*
 * Threads that live for less than a sampling period: 600 of 2 ms each.  Links
 * nothing of ours; run it under pprof-run.  Prints its CPU time.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

static int64_t clock_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void *short_life(void *arg)
{
    while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < 2000000)
        ;
    return arg;
}

int main(void)
{
    for (int i = 0; i < 600; i++) {
        pthread_t t;

        if (pthread_create(&t, NULL, short_life, NULL) != 0)
            return 1;
        pthread_join(t, NULL);
    }
    printf("%lld\n", (long long)clock_ns(CLOCK_PROCESS_CPUTIME_ID));
    return 0;
}
