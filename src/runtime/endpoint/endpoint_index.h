#ifndef RUNTIME_ENDPOINT_ENDPOINT_INDEX_H
#define RUNTIME_ENDPOINT_ENDPOINT_INDEX_H

#include "base/buf.h"

/*
 * The page at /debug/pprof/: every profile with its count, in the shape that
 * scripts made for Go's page look for, and what each one is.
 */
void endpoint_write_index(struct buf *out);

#endif
