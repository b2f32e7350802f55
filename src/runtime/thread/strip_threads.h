#ifndef RUNTIME_THREAD_STRIP_THREADS_H
#define RUNTIME_THREAD_STRIP_THREADS_H

#include <stdbool.h>

#include "runtime/unwind/stack_table.h"

/* Takes the threads out of a table whose tags are those of thread_labels.h: for
 * a reader who does not want them, when another one did.  False: out of
 * memory; the table is as it was. */
bool labels_strip_threads(struct stack_table *table);

#endif
