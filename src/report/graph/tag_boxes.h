#ifndef REPORT_GRAPH_TAG_BOXES_H
#define REPORT_GRAPH_TAG_BOXES_H

#include "report/graph/graph.h"

/*
 * The small boxes that are attached to a node of a picture: one for each of its
 * four heaviest label tags, with its numeric tags attached to it; those of
 * samples without labels are attached to the node itself.
 *
 * A node without calls shows its cumulative cost (which includes that of
 * removed nodes), others only their own cost.
 */
struct tag_box {
    struct str name;
    int64_t weight;
    uint32_t parent; /* another box of the list; NO_INDEX: the node */
    size_t number;   /* among those that hang on the same */
    bool is_numeric;
    bool dotted; /* the weight is that of callees too */
};

struct tag_boxes {
    VEC(struct tag_box) list; /* each after the one that it hangs on */
};

/* Memory from `a`; *out is used again, zeroed at first. */
void tag_boxes_make(struct tag_boxes *out, struct arena *a,
                    const struct graph *g, uint32_t node);

#endif
