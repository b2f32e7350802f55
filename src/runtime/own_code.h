#ifndef RUNTIME_OWN_CODE_H
#define RUNTIME_OWN_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/unwind/modules.h"

/*
 * Frames of ours in the program's stacks: the wrappers of libc's names, and
 * the function that every thread starts in where pthread_create is wrapped.
 * Without the library they would not be there, so profiles do not show them
 * (PPROF_SELF=1 does).
 *
 * Where the library was called last, as in an allocation, the outermost of
 * its functions stays if it is a wrapper: it has the name of the one in libc
 * that it stands for.
 */

/* Put before the definition of a wrapper: a section of their own is how
 * wrappers are told from the library's other functions. */
#define OWN_WRAPPER __attribute__((section("pprof_wrappers")))

/* Which code is ours: the library's module, or, when it is linked statically,
 * its sections in the program. */
void own_code_find(const struct modules *m);

/* Returns true if the address is in our code, which profiles do not show. */
bool own_code_has(uint64_t pc);

/* Returns true if frame i of a stack (leaf first) is to be left out.  Not for
 * handlers. */
bool own_code_hides(const uint64_t *pcs, size_t n, size_t i);

/* PPROF_SELF=1: our own frames are shown, too. */
bool own_is_shown(void);

#endif
