#ifndef REPORT_FRAME_H
#define REPORT_FRAME_H

#include "base/buf.h"
#include "profile/profile.h"

/*
 * One frame of a stack as reports see it: frames with equal fields are the same
 * place.  Fields that the granularity cleared are empty.
 */
struct frame {
    uint64_t address;
    struct str name, file; /* file is a clean path */
    struct str object;     /* file name of the mapping */
    int64_t start_line, line, column;
};

/*
 * The frame of a location's line, counted from 0, the innermost inlined
 * callee; of the location itself when it has no lines.  Object and start
 * line of a named function are filled with `objects` only.  Texts belong to
 * the profile or the arena.
 */
struct frame frame_of(struct arena *a, const struct profile *p,
                      const struct location *location, uint32_t line,
                      bool objects);

/* Appends what reports print for a frame: "name file:line", "00…10 [prog]",
 * "<unknown>". */
void frame_add_name(struct buf *out, const struct frame *f);

/* The same with something else than a space between the parts. */
void frame_add_parts(struct buf *out, const struct frame *f,
                     struct str separator);

#endif
