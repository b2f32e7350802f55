#ifndef REPORT_GRAPH_INLINED_EDGES_H
#define REPORT_GRAPH_INLINED_EDGES_H

#include "report/graph/graph_data.h"

/*
 * Edges for tables, which ask one thing of them: is a node always, sometimes
 * or never inlined into its callers?
 *
 * Makes the edges into the nodes of `into`, as graph_connect() would, but an
 * edge may lack weight if more of it would not change that answer: it is
 * always inlined and has reached `cut`, or some call over it was not inlined
 * and the node has another such edge of `cut` or
 * more.  Returns false, and makes nothing, where this is of no use: many
 * nodes are left, there are few samples, or values are negative.
 */
bool inlined_edges_connect(struct graph *g, const bool *into, int64_t cut);

#endif
