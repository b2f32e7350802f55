#ifndef RUNTIME_CPU_TRACE_H
#define RUNTIME_CPU_TRACE_H

#include "base/buf.h"
#include "base/error.h"
#include "runtime/cpu/sigprof.h"

/*
 * Samples in time as JSON that Chrome's about:tracing and Perfetto read: for
 * each thread, on which CPU it ran when (from the samples: runs shorter than
 * a period may be missing), and every sample with its stack.
 *
 * The ticks are sorted in place.  This is not the format of Go's execution
 * tracer, which knows goroutines.
 */
bool trace_write(struct tick *ticks, uint64_t n,
                 const struct stack_table *table, int64_t period_ns,
                 struct buf *out, struct error *err);

#endif
