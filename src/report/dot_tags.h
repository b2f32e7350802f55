#ifndef REPORT_DOT_TAGS_H
#define REPORT_DOT_TAGS_H

#include "report/graph.h"

/*
 * Appends the boxes for the tags of a node: for each of its four heaviest
 * label tags one, with its numeric tags hanging on it, and those of samples
 * without labels on the node itself.  `number` is the node's in the picture.
 *
 * A node without calls shows what it cost in all (so that the cost of nodes
 * that were taken out is seen), others only what they cost themselves.
 */
void dot_add_tags(const struct graph *g, uint32_t node, size_t number,
                  struct buf *out);

#endif
