#ifndef REPORT_FORMAT_FITTED_NAME_H
#define REPORT_FORMAT_FITTED_NAME_H

#include "base/arena.h"
#include "base/buf.h"

/*
 * Appends as much of "name percent amount" as fits in `room` columns of a
 * terminal: the amount is dropped first, then the percentage, then the path of
 * the name, its package or class; finally the rest of the name is cut.  Control
 * characters become question marks.
 */
void fitted_name_add(struct buf *out, struct arena *a, struct str name,
                     struct str percent, struct str amount, size_t room);

#endif
