#ifndef PROFILE_HEAP_SCALE_H
#define PROFILE_HEAP_SCALE_H

#include <stdint.h>

/*
 * What the allocations that were sampled stand for: a block of s bytes was
 * sampled with probability 1 - exp(-s / rate).  A rate of 0 or 1 means that
 * all were recorded.
 */
void heap_scale(int64_t *count, int64_t *bytes, int64_t rate);

#endif
