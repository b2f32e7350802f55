/*
 * A fixed amount of computing at the end of a 30-frame stack; prints the CPU
 * time that the process took for it, in nanoseconds.  `loop MILLIONS`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static __attribute__((noinline)) unsigned work(int depth, long n)
{
    unsigned x = 1;

    if (depth > 0) {
        x = work(depth - 1, n);
    } else {
        for (long i = 0; i < n; i++)
            x = x * 1664525u + (unsigned)i;
    }
    __asm__ volatile("" : "+r"(x));
    return x;
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? strtol(argv[1], NULL, 10) : 100;
    struct timespec start, t;
    unsigned x = 0;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
    for (long i = 0; i < n; i++)
        x += work(30, 1000000);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    printf("%lld %u\n",
           (long long)(t.tv_sec - start.tv_sec) * 1000000000 + t.tv_nsec -
               start.tv_nsec,
           x);
    return 0;
}
