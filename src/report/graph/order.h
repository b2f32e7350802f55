#ifndef REPORT_GRAPH_ORDER_H
#define REPORT_GRAPH_ORDER_H

#include "report/graph/graph.h"

/*
 * The orders in which reports print things.  All are total: where google/pprof
 * leaves the order to chance, the number of the node decides.
 */
enum node_order {
    ORDER_FLAT,  /* what it costs itself, then name, then cum */
    ORDER_CUM,   /* what it costs in all, then name, then flat */
    ORDER_SCORE, /* how telling it is in a picture, then name, then flat */
};

/* Sorts g->shown.  Scores need edges. */
void graph_sort(struct graph *g, enum node_order order);

/*
 * Nodes that only pass a call on are less interesting: the score is cum times
 * the entropy of the edges on both sides, plus flat.
 */
int64_t node_score(const struct graph *g, uint32_t node);

/*
 * The edges ids[0..n) that are not removed, heaviest first; by name of
 * source and destination where equal.  The result is a new array of
 * *n_out ids in g->arena.
 */
uint32_t *edges_sorted(struct graph *g, const uint32_t *ids, size_t n,
                       size_t *n_out);

/* The same for all edges out of the nodes shown. */
uint32_t *graph_edges_sorted(struct graph *g, size_t *n_out);

#endif
