/*
 * Two threads that wake each other through pipes until a second of CPU time
 * is used: nothing but switches.  Links nothing of ours; run it under
 * pprof-run.  Prints its CPU time.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static int there[2], back[2];

static int64_t cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void *answer(void *arg)
{
    char c;

    while (read(there[0], &c, 1) == 1)
        if (write(back[1], &c, 1) != 1)
            break;
    return arg;
}

int main(void)
{
    pthread_t thread;
    char c = 1;

    if (pipe(there) != 0 || pipe(back) != 0 ||
        pthread_create(&thread, NULL, answer, NULL) != 0)
        return 1;
    while (cpu_ns() < 1000000000)
        for (int i = 0; i < 100; i++)
            if (write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1)
                return 1;
    close(there[1]);
    pthread_join(thread, NULL);
    printf("%lld\n", (long long)cpu_ns());
    return 0;
}
