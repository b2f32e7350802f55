#ifndef REPORT_GRAPH_GRAPH_H
#define REPORT_GRAPH_GRAPH_H

#include "report/graph/graph_data.h"

/*
 * Making the graph of graph_data.h: nodes, then edges, then tags.
 */

/* Makes the nodes with their costs.  Shown are those that are not zero (and
 * with drop_negative not negative), in the order of the node table. */
void graph_init(struct graph *g, struct report *r);

/* Shows only the nodes for which kept[node] is true; the rest is skipped by
 * the edges that are made from now on. */
void graph_keep(struct graph *g, const bool *kept);

/* Makes the edges.  Those that were made before are forgotten. */
void graph_connect(struct graph *g, const struct graph_wanted *wanted);

/* Makes the tags of the shown nodes. */
void graph_tag(struct graph *g);

/* The values of the node: with -mean the quotients. */
int64_t node_flat(const struct node *n);
int64_t node_cum(const struct node *n);

static inline struct str graph_name(struct graph *g, uint32_t node)
{
    return node_name(&g->table, g->nodes.v[node].info);
}

#endif
