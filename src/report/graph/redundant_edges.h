#ifndef REPORT_GRAPH_REDUNDANT_EDGES_H
#define REPORT_GRAPH_REDUNDANT_EDGES_H

#include "report/graph/graph.h"

/*
 * Removes residual edges (those that skip nodes which were taken out) whose
 * source reaches their destination by other edges as well, the lightest first.
 * An edge heavier than one that is not residual stays, so as not to confuse.
 */
void drop_redundant_edges(struct graph *g);

#endif
