/*
 * A program with an endpoint and one thread of work, for floods.py: prints
 * how many units it has done, each 200 ms, until it is ended.
 */
#include <pprof/pprof.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static _Atomic uint64_t units;

static void *work(void *arg)
{
    static char bytes[16 << 10];
    uint64_t h = (uintptr_t)arg;

    for (;;) {
        memset(bytes, (int)h, sizeof(bytes));
        for (size_t i = 0; i < sizeof(bytes); i++)
            h = (h ^ (unsigned char)bytes[i]) * 1099511628211u;
        atomic_fetch_add_explicit(&units, 1 + (h == 0), memory_order_relaxed);
    }
    return NULL;
}

int main(void)
{
    struct timespec pause = {.tv_nsec = 200000000};
    pthread_t thread;

    if (pprof_serve(NULL) != 0) {
        fprintf(stderr, "flood_load: %s\n", pprof_last_error());
        return 1;
    }
    if (pthread_create(&thread, NULL, work, NULL) != 0)
        return 1;
    for (;;) {
        printf("%llu\n", (unsigned long long)atomic_load(&units));
        fflush(stdout);
        nanosleep(&pause, NULL);
    }
}
