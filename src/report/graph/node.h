#ifndef REPORT_GRAPH_NODE_H
#define REPORT_GRAPH_NODE_H

#include "base/buf.h"
#include "profile/profile.h"
#include "report/frame.h"

/*
 * What graphs tell apart: a function, a line of it, an address … whatever
 * the granularity has left in the profile.  Two frames with equal fields are
 * one node.
 */
struct node_info {
    string_id name, file, object;
    uint64_t address;
    int64_t start_line, line, column;
};

struct node_options {
    bool objects; /* functions of different binaries are different */
    struct str trim_path, source_path; /* see path_trim.h */
};

/*
 * The nodes of a profile, and for each location those that it stands for.
 *
 * Made once per report from the location table, so that walking samples handles
 * nothing but integers.  Nodes are numbered in the order of the location table
 * (inside a location the innermost line first); google/pprof's order is
 * undefined there.
 */
struct node_table {
    struct arena *arena;
    const struct profile *profile;
    VEC(struct node_info) infos;
    struct str *names; /* printable; filled when asked for */

    /* A node, or NODE_LIST + place in `lists` of a count and that many
     * nodes, outermost first. */
    uint32_t *of_location;
    VEC(uint32_t) lists;
    size_t longest_list; /* at least 1 */
};

#define NODE_LIST 0x80000000u
#define NO_NODE   0x7fffffffu /* a node that was taken out */

void node_table_init(struct node_table *t, struct arena *a, struct profile *p,
                     const struct node_options *options);

/* The nodes of a location, outermost first. */
struct node_span {
    const uint32_t *ids;
    size_t n;
};

static inline struct node_span node_table_at(const struct node_table *t,
                                             uint32_t location)
{
    const uint32_t *entry = &t->of_location[location];

    if (!(*entry & NODE_LIST))
        return (struct node_span){entry, 1};
    entry = &t->lists.v[*entry & ~NODE_LIST];
    return (struct node_span){entry + 1, *entry};
}

/* Takes the nodes out of the locations for which kept[node] is false. */
void node_table_keep(struct node_table *t, const bool *kept);

/* "00000000004005a0 main /src/main.c:12": what reports print for a node. */
struct str node_name(struct node_table *t, uint32_t node);

struct frame node_frame(const struct node_table *t, uint32_t node);

#endif
