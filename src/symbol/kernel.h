#ifndef SYMBOL_KERNEL_H
#define SYMBOL_KERNEL_H

#include "base/arena.h"
#include "dwarf/frame.h"
#include "symbol/object.h"

/*
 * The running kernel, and the vDSO that it maps into every process.
 *
 * Both are used only for a mapping whose build id is theirs: a profile of
 * another machine or of before an update has other addresses.
 */

/*
 * Names from /proc/kallsyms for addresses[0..n) of a mapping called
 * "[kernel.kallsyms]…".  False: it is not this kernel, or the addresses are
 * hidden from us (kptr_restrict).
 */
bool kernel_resolve(struct str build_id, const uint64_t *addresses, size_t n,
                    symbol_found *found, void *arg);

/* The vDSO as an object, if its build id is that one; else NULL. */
struct object *kernel_open_vdso(struct str build_id,
                                struct object_mapping mapping);

#endif
