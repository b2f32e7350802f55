#ifndef REPORT_FORMAT_BOX_NAME_H
#define REPORT_FORMAT_BOX_NAME_H

#include "report/frame.h"

/*
 * A frame's name as the box of a graph shows it: short, in several lines,
 * the parts of a function's name a line each, then file and line.
 *
 * Every line ends in `line_end`; the pieces of the name pass through
 * `add_name`, which may escape them.
 */
void box_name_add(struct buf *out, struct arena *a, const struct frame *f,
                  struct str line_end,
                  void (*add_name)(struct buf *out, struct str piece));

#endif
