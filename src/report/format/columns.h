#ifndef REPORT_FORMAT_COLUMNS_H
#define REPORT_FORMAT_COLUMNS_H

#include "base/arena.h"
#include "base/buf.h"

/*
 * Aligns text in columns, to the right, as Go's text/tabwriter does.
 *
 * A tab ends a cell; what follows the last tab of a line is free text.  A
 * column is a run of lines that all have a cell there; it is as wide as its
 * widest cell (in code points) and one space.  Vertical tabs count as tabs,
 * form feeds as newlines that end every column.
 */
void columns_align_right(struct buf *out, struct arena *a, struct str text);

#endif
