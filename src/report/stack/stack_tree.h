#ifndef REPORT_STACK_STACK_TREE_H
#define REPORT_STACK_STACK_TREE_H

#include "report/stack/change.h"
#include "report/stack/stacks.h"

/*
 * The stacks as a tree: what a flame graph draws.  Node 0 is the whole; its
 * children are the functions at the root of stacks.
 */
struct tree_node {
    uint32_t frame;                     /* in the stack table */
    uint32_t first_child, next_sibling; /* NO_INDEX at the end */
    uint32_t n_children;
    struct amounts amounts; /* with all below; before is 0 without a base */
};

struct stack_tree {
    VEC(struct tree_node) nodes;
    int64_t gone;     /* the earlier values of stacks that are gone */
    int64_t negative; /* the sum of negative values, which count as zero */
};

/* Children are ordered by weight, the heaviest first; with a base some may be
 * gone. */
void stack_tree_make(struct stack_tree *tree, const struct report *r,
                     const struct report_stacks *t);

#endif
