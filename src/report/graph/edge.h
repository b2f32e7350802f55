#ifndef REPORT_GRAPH_EDGE_H
#define REPORT_GRAPH_EDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"

/*
 * Calls between nodes.
 *
 * Edges are added in any order while samples are walked, then linked: only
 * after that do nodes know their edges.  An edge is removed by marking it.
 */
struct edge {
    uint32_t src, dst;
    int64_t weight, weight_div; /* weight_div: only with -mean */
    uint32_t last_sample;       /* that added to it, + 1 */
    bool inlined;               /* in every sample */
    bool residual;              /* skips nodes that are not shown */
    bool removed;
};

struct edges {
    struct arena *arena;
    VEC(struct edge) all;
    struct map index;
    VEC(struct call) calls; /* of the sample that is being added */
    VEC(uint64_t) hashes;   /* of the calls */
    VEC(uint32_t) found;    /* an edge that may be the call's */
    /* The edges of node n are in[in_start[n] .. in_start[n+1]), by source;
     * and out[…], by destination.  Removed ones are among them. */
    uint32_t *in, *out;
    size_t *in_start, *out_start;
};

void edges_init(struct edges *e, struct arena *a);

struct call {
    uint32_t src, dst;
    bool inlined, residual;
};

/*
 * Adds the calls of a sample: write up to `room` calls to the array that
 * edges_calls gives, then add the first n of them.  Each edge gets the
 * weight once, however often the sample calls.  The order of calls matters:
 * the first of equal ones tells whether it was inlined.
 */
struct edge_weight {
    uint32_t sample;
    int64_t weight, weight_div;
};

struct call *edges_calls(struct edges *e, size_t room);
void edges_add(struct edges *e, size_t n, const struct edge_weight *w);

/* Makes in and out for nodes 0 .. n_nodes. */
void edges_link(struct edges *e, size_t n_nodes);

/* The value of the edge: with -mean the quotient. */
int64_t edge_value(const struct edge *e);

#endif
