#ifndef REPORT_GRAPH_GRAPH_CALL_TREE_H
#define REPORT_GRAPH_GRAPH_CALL_TREE_H

#include "report/graph/graph_data.h"
#include "report/graph/sample_walk.h"

/*
 * The graph as a call tree: a node for every way to a function.
 *
 * Every node but a root has one caller, so that an edge is known by the node
 * it leads to: its weight is the node's cum.
 */

/* Makes the nodes with their costs. */
void call_tree_count(struct graph *g);

/* Turns the infos that the steps name into nodes of the tree. */
void call_tree_climb(struct graph *g, struct walk *w);

/*
 * Makes the edges.  Calls of a removed node become calls of its nearest
 * remaining caller; if there is none, their callees become roots.
 */
void call_tree_connect(struct graph *g);

/* The same after more nodes were removed, without restoring removed edges. */
void call_tree_bridge_gaps(struct graph *g);

#endif
