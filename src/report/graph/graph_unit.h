#ifndef REPORT_GRAPH_GRAPH_UNIT_H
#define REPORT_GRAPH_GRAPH_UNIT_H

#include "report/graph/graph.h"

/*
 * When the unit is left open ("minimum"), one for all values of the graph:
 * that of the smallest value, unless the total is far larger; then one in
 * which the smallest still shows as 0.01.
 */
void report_choose_unit(struct report *r, const struct graph *g);

#endif
