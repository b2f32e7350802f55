/*
 * A tidy program: its memory grows in two phases, and everything is freed
 * before it ends.
 *
 *     heap_phases         10 MB for load(), of which 8 MB are freed; then 3 MB
 *                         for work(); then the rest is freed
 *     heap_phases wait    the same, and a line on stdout at the peak and at
 *                         the end, each followed by a wait for stdin
 *
 * Linked with libpprof for labels only; the hooks come from pprof-run.
 */
#include <pprof/pprof.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 10000
#define N     1000

static void *blocks[N];

__attribute__((noinline)) static void load(int n)
{
    PPROF_LABEL("phase", "load");
    for (int i = 0; i < n; i++)
        blocks[i] = malloc(BLOCK);
}

__attribute__((noinline)) static void work(int from, int n)
{
    PPROF_LABEL("phase", "work");
    for (int i = from; i < from + n; i++)
        blocks[i] = malloc(BLOCK);
}

static void drop(int from, int n)
{
    for (int i = from; i < from + n; i++)
        free(blocks[i]);
}

static void wait_if(int waits, const char *where)
{
    char line[16];

    if (!waits)
        return;
    puts(where);
    fflush(stdout);
    if (!fgets(line, sizeof(line), stdin))
        exit(1);
}

int main(int argc, char **argv)
{
    int waits = argc > 1 && strcmp(argv[1], "wait") == 0;

    load(N);
    wait_if(waits, "peak");
    drop(200, N - 200);
    work(200, 300);
    drop(0, 500);
    wait_if(waits, "end");
    return 0;
}
