#ifndef REPORT_GRAPH_SAMPLE_WALK_H
#define REPORT_GRAPH_SAMPLE_WALK_H

#include "report/graph/node.h"

/*
 * The path of a sample from the root to the leaf, over the nodes that remain in
 * the table.
 */
struct step {
    uint32_t node;
    bool inlined;  /* into the step before */
    bool residual; /* nodes that were taken out lie before it */
};

struct walk {
    VEC(struct step) steps;
    bool leaf_removed; /* nodes that were taken out follow the last step */
};

/* Fills the steps of a sample; w is used again and again, zeroed at first,
 * and grows in the arena of the table. */
void walk_sample(struct walk *w, const struct node_table *t, size_t sample);

#endif
