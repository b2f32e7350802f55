#include "part.h"

#include <ctype.h>

/* Recursion, blocks with their own variables, a function in cold parts. */
struct tree *tree_add(struct tree *t, struct tree *node)
{
    if (!t)
        return node;
    if (node->key < t->key) {
        struct tree *left = tree_add(t->left, node);

        t->left = left;
    } else {
        t->right = tree_add(t->right, node);
    }
    return t;
}

static long weigh(const struct tree *t, int depth)
{
    long w = quarter(t->key) + depth;

    for (int i = 0; i < depth; i++) {
        long step = twice(i);

        if (step > w)
            w += step;
        else
            w -= quarter(step);
    }
    return w;
}

long tree_sum(const struct tree *t, int depth)
{
    if (!t)
        return 0;
    return weigh(t, depth) + tree_sum(t->left, depth + 1) +
           tree_sum(t->right, depth + 1);
}

size_t text_words(const char *text)
{
    size_t n = 0;
    int inside = 0;

    for (; *text; text++) {
        int letter = isalpha((unsigned char)*text);

        if (letter && !inside)
            n++;
        inside = letter;
    }
    return n;
}
