#ifndef PART_H
#define PART_H

#include <stddef.h>

struct tree {
    struct tree *left, *right;
    long key;
};

static inline long twice(long x)
{
    return x + x;
}

static inline long quarter(long x)
{
    return twice(x) / 8;
}

#ifdef __cplusplus
extern "C" {
#endif
struct tree *tree_add(struct tree *t, struct tree *node);
long tree_sum(const struct tree *t, int depth);
size_t text_words(const char *text);
long cpp_work(int n);
#ifdef __cplusplus
}
#endif

#endif
