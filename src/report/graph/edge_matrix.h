#ifndef REPORT_GRAPH_EDGE_MATRIX_H
#define REPORT_GRAPH_EDGE_MATRIX_H

#include "report/graph/graph_data.h"

/*
 * Edges between few nodes, by way of a table with a cell for each pair of
 * them.
 *
 * A report on a large profile keeps about a thousand of its nodes.  Then a
 * call finds its edge by an index, and 13 million calls cost a quarter of
 * what they cost with a hash table.
 */

/* True if the nodes that are left are few, and the samples many enough for
 * the table to be worth its size. */
bool edge_matrix_fits(const struct graph *g);

/* Adds the wanted edges of all samples, by destination and source.  Both
 * arrays of `wanted` are given. */
void edge_matrix_connect(struct graph *g, const struct graph_wanted *wanted);

#endif
