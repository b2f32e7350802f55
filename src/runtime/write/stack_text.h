#ifndef RUNTIME_WRITE_STACK_TEXT_H
#define RUNTIME_WRITE_STACK_TEXT_H

#include "base/buf.h"
#include "runtime/unwind/stack_table.h"
#include "runtime/write/function_names.h"

/*
 * What the texts of debug=1 share.
 */

/* After the numbers of an entry: " @ 0x… 0x…", a line with the labels of the
 * set, if there are any, a line with the name of each frame, a blank line. */
void text_add_stack(struct buf *out, struct names *names,
                    const struct stack_record *r, uint32_t set);

#endif
