#ifndef PAGE_FLAME_TREE_H
#define PAGE_FLAME_TREE_H

#include "report/context.h"
#include "report/graph/node.h"

/*
 * The samples of a report as one tree of calls, in the order in which it is
 * drawn: level by level from the root, the children of a node side by side,
 * the heaviest first (by the sum of the sizes of their samples' values).
 * Samples that are worth nothing are left out.
 *
 * A source is what a frame shows: a node of the report's node table, and
 * whether it was inlined there; sources are numbered in the order in which the
 * nodes have them.  Source 0 and node 0 are the root.
 */
struct flame_source {
    uint32_t node;     /* in `table`; of the root NO_NODE */
    uint32_t location; /* the first that it was seen in */
    bool inlined;
};

struct flame_node {
    uint32_t source;
    uint32_t n_children;
    int64_t self; /* without the base, if there is one */
    int64_t base; /* of the base, positive */
};

struct flame_tree {
    struct node_table table;
    VEC(struct flame_source) sources;
    VEC(struct flame_node) nodes;
    VEC(size_t) levels; /* how many nodes each has */
    bool has_base;

    /* Samples without any frame: the root's own value. */
    size_t frameless;
    int64_t frameless_value;
};

/* Memory from the report's arena. */
void flame_tree_make(struct flame_tree *t, struct report *r);

#endif
