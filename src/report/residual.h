#ifndef REPORT_RESIDUAL_H
#define REPORT_RESIDUAL_H

#include "report/graph.h"

/*
 * Residual edges: those that skip nodes which were taken out.
 */

/*
 * In a call tree: calls of a node that is gone become calls of its nearest
 * caller that is not; without one, their callees become roots.
 */
void tree_bridge_gaps(struct graph *g);

/*
 * Removes residual edges whose source reaches their destination by other
 * edges as well, the lightest first.  An edge heavier than one that is not
 * residual stays, so as not to confuse.
 */
void drop_redundant_edges(struct graph *g);

#endif
