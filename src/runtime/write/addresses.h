#ifndef RUNTIME_WRITE_ADDRESSES_H
#define RUNTIME_WRITE_ADDRESSES_H

#include <stddef.h>
#include <stdint.h>

#include "base/pages.h"

/*
 * The different addresses of a profile: pushed into a vec of uint64_t in any
 * order, then sorted, each once, so that an address has a number.
 */
void addresses_sort(struct pages_vec *v);

/* Its number; SIZE_MAX: it is not among them. */
size_t addresses_index(const struct pages_vec *v, uint64_t address);

#endif
