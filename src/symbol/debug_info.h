#ifndef SYMBOL_DEBUG_INFO_H
#define SYMBOL_DEBUG_INFO_H

#include <elfutils/libdw.h>

#include "symbol/object.h"

/*
 * Functions, inlined frames and lines from DWARF.
 *
 * addresses[0..n) are those of the file, in rising order.  Each unit whose
 * code holds one of them is walked once.  `found` is called for the
 * addresses that have an answer; the texts belong to the Dwarf handle.
 */
void debug_info_resolve(Dwarf *dwarf, struct arena *arena,
                        const uint64_t *addresses, size_t n,
                        object_found *found, void *arg);

#endif
