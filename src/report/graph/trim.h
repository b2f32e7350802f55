#ifndef REPORT_GRAPH_TRIM_H
#define REPORT_GRAPH_TRIM_H

#include "report/graph/graph.h"
#include "report/header.h"

/*
 * The graph of a report: light nodes and edges are removed (nodefraction,
 * edgefraction), the remaining nodes are sorted and cut to nodecount.
 */
enum graph_detail {
    GRAPH_NODES,   /* costs only */
    GRAPH_INLINES, /* and the edges that tell whether a node is inlined */
    GRAPH_EDGES,   /* all edges */
    GRAPH_MATCHED, /* the edges of nodes that match the report's argument */
    GRAPH_PICTURE, /* edges and tags, chosen for a picture */
};

/* Also chooses the report's output unit, if that was left open. */
void graph_make(struct graph *g, struct report *r, enum graph_detail detail,
                struct header_counts *counts);

#endif
