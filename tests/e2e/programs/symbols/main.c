#include <stdio.h>
#include <stdlib.h>

#include "part.h"

/* A nested function's name and an outer one's: by gcc's cloning. */
static __attribute__((noinline)) long pick(long a, long b, int which)
{
    switch (which) {
    case 0:
        return twice(a);
    case 1:
        return quarter(b);
    case 2:
        return twice(quarter(a + b));
    default:
        abort();
    }
}

int main(int argc, char **argv)
{
    struct tree nodes[64], *root = NULL;
    long sum = 0;

    for (int i = 0; i < 64; i++) {
        nodes[i] = (struct tree){.key = (i * 37) % 64};
        root = tree_add(root, &nodes[i]);
    }
    sum = tree_sum(root, 0) + (long)text_words(argv[0]);
    for (int i = 0; i < argc + 2; i++)
        sum += pick(sum, i, i % 3);
    printf("%ld %ld\n", sum, cpp_work(argc));
    return 0;
}
