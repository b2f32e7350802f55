/*
 * Allocates at known places: for each site so many bytes in blocks of its
 * sizes, of which every fourth stays.  Then writes the heap profile.
 *
 * usage: heap_truth BYTES FILE
 * Prints a line "SITE SIZE TOTAL LIVE" for each site and size: how many
 * blocks there were, and how many are left.
 */
#include <fcntl.h>
#include <malloc.h>
#include <pprof/pprof.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LAG     64 /* blocks that live a little while */
#define THREADS 4
#define SITE    __attribute__((noinline)) static void *

/* Not optimised away, no tail call. */
#define KEEP(p) __asm__ volatile("" : "+r"(p) : : "memory")

static size_t bytes;

SITE site_malloc(size_t size)
{
    char *p = malloc(size);

    KEEP(p);
    return p;
}

SITE site_calloc(size_t size)
{
    char *p = calloc(1, size);

    KEEP(p);
    for (size_t i = 0; i < size && i < 32768; i++)
        if (p[i])
            abort();
    return p;
}

/* Grows a block of a fifth, whose contents must come along. */
SITE site_realloc(size_t size)
{
    char *p = malloc(size / 5);

    memset(p, 7, size / 5);
    p = realloc(p, size);
    KEEP(p);
    for (size_t i = 0; i < size / 5; i++)
        if (p[i] != 7)
            abort();
    return p;
}

SITE site_memalign(size_t size)
{
    void *p;

    if (posix_memalign(&p, 64, size) != 0 || (size_t)p % 64)
        abort();
    KEEP(p);
    if (malloc_usable_size(p) < size)
        abort();
    return p;
}

SITE site_thread(size_t size)
{
    char *p = malloc(size);

    KEEP(p);
    return p;
}

static void run(void *(*site)(size_t), size_t size, size_t n)
{
    /* Not from the heap: it shall hold what the sites took. */
    void *young[LAG] = {NULL};

    for (size_t i = 0; i < n; i++) {
        void *p = site(size);

        if (!p)
            abort();
        *(char *)p = 1;
        if (i % 4 == 0)
            continue;
        free(young[i % LAG]);
        young[i % LAG] = p;
    }
    for (size_t i = 0; i < LAG; i++)
        free(young[i]);
}

static size_t blocks(size_t size)
{
    return bytes / size > 4 ? bytes / size : 4;
}

static void measure(const char *name, void *(*site)(size_t), size_t size)
{
    size_t n = blocks(size);

    run(site, size, n);
    printf("%s %zu %zu %zu\n", name, size, n, (n + 3) / 4);
    if (site == site_realloc)
        printf("%s %zu %zu 0\n", name, size / 5, n);
}

static void *thread(void *arg)
{
    run(site_thread, 200, blocks(200));
    return arg;
}

static void measure_threads(void)
{
    pthread_t threads[THREADS];
    size_t n = blocks(200);

    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, thread, NULL) != 0)
            abort();
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("site_thread 200 %zu %zu\n", THREADS * n, THREADS * ((n + 3) / 4));
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {16, 100, 1000, 5000, 40000, 300000};
    int fd;

    if (argc != 3)
        return 2;
    bytes = strtoul(argv[1], NULL, 10);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        measure("site_malloc", site_malloc, sizes[i]);
    measure("site_malloc", site_malloc, 10 << 20);
    measure("site_calloc", site_calloc, 48);
    measure("site_calloc", site_calloc, 2000);
    measure("site_calloc", site_calloc, 100000);
    measure("site_realloc", site_realloc, 400);
    measure("site_realloc", site_realloc, 25000);
    measure("site_realloc", site_realloc, 500000);
    measure("site_memalign", site_memalign, 320);
    measure("site_memalign", site_memalign, 9000);
    measure_threads();
    fd = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (pprof_write_profile("heap", fd, 0) != 0) {
        fprintf(stderr, "%s\n", pprof_last_error());
        return 1;
    }
    return 0;
}
