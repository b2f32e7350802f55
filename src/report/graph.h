#ifndef REPORT_GRAPH_H
#define REPORT_GRAPH_H

#include "report/context.h"
#include "report/edge.h"
#include "report/node.h"
#include "report/node_tags.h"

/*
 * A profile as a graph: nodes with what they cost themselves (flat) and with
 * what they call (cum), and edges between callers and callees.
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

/* See call_tree.h. */
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

    struct edges edges;
    struct node_tags tags;
};

/* Makes the nodes with their costs.  Shown are those that are not zero (and
 * with drop_negative not negative), in the order of the node table. */
void graph_init(struct graph *g, struct report *r);

/* Shows only the nodes for which kept[node] is true; the rest is skipped by
 * the edges that are made from now on. */
void graph_keep(struct graph *g, const bool *kept);

/* Which edges to make: those into or out of these nodes; all if both are
 * NULL.  A call tree always gets all. */
struct graph_wanted {
    const bool *into, *out_of;
};

/* Makes the edges.  Those that were made before are forgotten. */
void graph_connect(struct graph *g, const struct graph_wanted *wanted);

/* Makes the tags of the shown nodes. */
void graph_tag(struct graph *g);

/* What the node is worth: with -mean the quotients. */
int64_t node_flat(const struct node *n);
int64_t node_cum(const struct node *n);

static inline struct str graph_name(struct graph *g, uint32_t node)
{
    return node_name(&g->table, g->nodes.v[node].info);
}

#endif
