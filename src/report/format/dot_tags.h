#ifndef REPORT_FORMAT_DOT_TAGS_H
#define REPORT_FORMAT_DOT_TAGS_H

#include "report/graph/graph.h"

/* Appends the boxes for the tags of a node (see tag_boxes.h).  `number` is
 * the node's in the picture. */
void dot_add_tags(const struct graph *g, uint32_t node, size_t number,
                  struct buf *out);

#endif
