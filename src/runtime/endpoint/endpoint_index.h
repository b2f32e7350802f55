#ifndef RUNTIME_ENDPOINT_ENDPOINT_INDEX_H
#define RUNTIME_ENDPOINT_ENDPOINT_INDEX_H

#include "base/buf.h"

/*
 * The page at /debug/pprof/: every profile with its count, in the form that
 * scripts made for Go's page expect, and a description of each.
 */
void endpoint_write_index(struct buf *out);

#endif
