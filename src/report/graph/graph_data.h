#ifndef REPORT_GRAPH_GRAPH_DATA_H
#define REPORT_GRAPH_GRAPH_DATA_H

#include "report/context.h"
#include "report/graph/edge.h"
#include "report/graph/node.h"
#include "report/graph/node_tags.h"

/*
 * A profile as a graph: nodes with their own cost (flat) and the cost including
 * callees (cum), and edges between callers and callees.
 *
 * As a graph a node is a node_info.  As a call tree it is a node_info below
 * its caller, so that a function appears once for every way to it.
 *
 * Costs are known after the first walk over the samples.  Edges and tags,
 * which are many, are made by a second walk for those nodes only that are
 * left by then.
 */
struct node {
    int64_t flat, cum;
    int64_t flat_div, cum_div; /* only with -mean */
    uint32_t info;             /* in the node table */
};

/* See graph_call_tree.h. */
struct call_tree {
    struct map index;      /* caller and info -> node */
    VEC(uint32_t) parents; /* of the nodes; NO_NODE at a root */
    VEC(bool) inlined;     /* the nodes into their parents, always */
};

struct graph {
    struct arena *arena;
    const struct report *report;
    struct node_table table;
    bool is_tree;
    struct call_tree tree;

    VEC(struct node) nodes; /* as a graph: node i is info i of the table */
    uint32_t *shown;        /* the nodes of the report, in its order */
    size_t n_shown;
    bool *is_shown;
    bool *is_gone; /* taken out by graph_keep */

    /* As a graph: what samples weigh, their signs aside, in which a node is
     * inlined; one counts as often as it is.  No edge that is always inlined
     * into a node can weigh more. */
    int64_t *inlined;

    struct edges edges;
    struct node_tags tags;
};

/* Which edges to make: those into or out of these nodes; all if both are
 * NULL.  A call tree always gets all. */
struct graph_wanted {
    const bool *into, *out_of;
};

#endif
