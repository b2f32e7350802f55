/*
 * usage: heap_grow MEGABYTES MILLISECONDS
 *
 * Takes so many megabytes, one in every few milliseconds, keeps them for two
 * seconds, and says how far it came.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

__attribute__((noinline)) static char *grow(void)
{
    char *p = malloc(1 << 20);

    if (p)
        memset(p, 1, 1 << 20);
    return p;
}

int main(int argc, char **argv)
{
    struct timespec pause;
    long ms, n;
    int i = 0;

    if (argc != 3)
        return 2;
    n = strtol(argv[1], NULL, 10);
    ms = strtol(argv[2], NULL, 10);
    pause = (struct timespec){ms / 1000, ms % 1000 * 1000000};
    while (i < n && grow()) {
        i++;
        nanosleep(&pause, NULL);
    }
    nanosleep(&(struct timespec){2, 0}, NULL);
    printf("%d\n", i);
    return 0;
}
