#ifndef REPORT_GRAPH_NODE_TAGS_H
#define REPORT_GRAPH_NODE_TAGS_H

#include "report/context.h"

/*
 * Labels of samples as the small boxes that are attached to nodes in a picture.
 *
 * A label tag stands for all string labels of a sample, joined; a numeric
 * tag for a value of the label `bytes`, kept apart by the string labels of
 * its sample.
 */
struct tag {
    uint32_t node;
    bool is_numeric;
    bool removed;
    string_id label; /* joined string labels, 0 when the sample had none */
    string_id name;  /* of a numeric tag: the value with its unit */
    int64_t value;   /* the first value that has this name */
    int64_t flat, flat_div, cum, cum_div;
};

struct node_tags {
    struct arena *arena;
    struct profile *profile;
    struct str unit; /* of the numeric values */
    VEC(struct tag) all;
    struct map index;
    /* The tags of node n are of_node[start[n] .. start[n+1]). */
    uint32_t *of_node;
    size_t *start;
};

void node_tags_init(struct node_tags *t, struct arena *a,
                    const struct report *r);

/* The labels of one sample, ready to be added to many nodes. */
struct sample_tags;

struct sample_tags *sample_tags_new(struct node_tags *t,
                                    const struct report *r);
void sample_tags_free(struct sample_tags *s);

/* Reads the labels of a sample; false when there are none that count. */
bool sample_tags_read(struct sample_tags *s, size_t sample);

/* Adds them to a node, as flat or as cumulative cost. */
void sample_tags_add(struct sample_tags *s, uint32_t node, bool flat,
                     int64_t weight, int64_t weight_div);

/* After the last sample. */
void node_tags_link(struct node_tags *t, size_t n_nodes);

#endif
