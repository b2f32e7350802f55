/*
 * A program with heap profiles: linked with libpprof-hooks in place of
 * libpprof, that is all.
 *
 *     cc memory.c $(pkg-config --cflags --libs libpprof-hooks) -o memory
 *     ./memory 127.0.0.1:6060 &
 *     pprof -top http://127.0.0.1:6060/debug/pprof/heap
 *     pprof -top http://127.0.0.1:6060/debug/pprof/allocs?seconds=5
 *
 * One function fills a cache, one makes garbage, one forgets to free.
 */
#include <pprof/pprof.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CACHE    2000
#define NOINLINE __attribute__((noinline)) /* the profile names them all */

static char *cache[CACHE];

NOINLINE static void fill_cache(unsigned i)
{
    free(cache[i % CACHE]);
    cache[i % CACHE] = calloc(1, 20000);
}

NOINLINE static size_t make_garbage(unsigned i)
{
    char *text = malloc(5000 + i % 1000);
    size_t n;

    if (!text)
        return 0;
    memset(text, 'x', 4999);
    text[4999] = '\0';
    n = strlen(text);
    free(text);
    return n;
}

/* The next one takes the only pointer's place. */
NOINLINE static void forget(void)
{
    static char *volatile last;

    last = malloc(3000);
    if (last)
        *last = 1;
}

int main(int argc, char **argv)
{
    struct timespec pause = {0, 1000000};

    if (pprof_serve(argc > 1 ? argv[1] : NULL) != 0) {
        fprintf(stderr, "memory: %s\n", pprof_last_error());
        return 1;
    }
    for (unsigned i = 0;; i++) {
        fill_cache(i);
        make_garbage(i);
        forget();
        nanosleep(&pause, NULL);
    }
}
