/*
 * A small service with /debug/pprof/: a few threads that do different work,
 * and rest in between.
 * Runs for as many seconds as the first argument says, or until it is ended.
 */
#include <pprof/pprof.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile uint64_t result;

static uint64_t checksum(const char *bytes, size_t n)
{
    uint64_t h = 14695981039346656037u;

    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)bytes[i]) * 1099511628211u;
    return h;
}

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static void handle_upload(void)
{
    static _Thread_local char body[64 << 10];

    memset(body, (int)result, sizeof(body));
    result += checksum(body, sizeof(body));
}

static void handle_report(void)
{
    uint32_t rows[4096];

    for (size_t i = 0; i < 4096; i++)
        rows[i] = (uint32_t)(i * 2654435761u ^ (uint32_t)result);
    qsort(rows, 4096, sizeof(rows[0]), compare);
    result += rows[17];
}

static void *worker(void *arg)
{
    for (int i = 0;; i++) {
        handle_report();
        if (i % 3 == 0)
            handle_upload();
        if (i % 16 == 0)
            usleep(20000);
    }
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];

    if (pprof_serve(NULL) != 0) { /* PPROF_ADDR, or 127.0.0.1:6060 */
        fprintf(stderr, "service: %s\n", pprof_last_error());
        return 1;
    }
    for (size_t i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, worker, NULL) != 0)
            return 1;
    /* Asking for the stacks of all threads interrupts system calls, as any
     * signal does: what waits must be ready to go on waiting. */
    if (argc <= 1)
        for (;;)
            pause();
    for (unsigned left = (unsigned)strtoul(argv[1], NULL, 10); left;)
        left = sleep(left);
    return 0;
}
