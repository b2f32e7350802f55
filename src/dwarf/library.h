#ifndef DWARF_LIBRARY_H
#define DWARF_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dwarf/frame.h"

/*
 * What libpprof-symbol.so does for libpprof, which loads it on demand: files,
 * lines and inlined calls of a program's own modules.
 *
 * It needs libc and zlib, uses no malloc, takes no lock and reads files by
 * pread.  Besides its tables of addresses it holds about `memory` bytes at
 * most; a unit or file that does not fit is left out.
 */
struct pprof_symbol_question {
    size_t size;             /* of this struct */
    const char *path;        /* the module's file */
    const uint8_t *build_id; /* the build id it must have, because a file may be
                                replaced */
    size_t build_id_n;
    const uint64_t *addresses; /* virtual addresses in the file, ascending */
    size_t n;
    uint64_t memory;
    symbol_found *found; /* may be called twice for an address */
    void *arg;
    bool *left_out; /* set when a unit did not fit */
};

/* False: there is no debug information for that build. */
bool pprof_symbol_resolve(const struct pprof_symbol_question *q);

#define PPROF_SYMBOL_LIBRARY  "libpprof-symbol.so"
#define PPROF_SYMBOL_FUNCTION "pprof_symbol_resolve"

typedef bool pprof_symbol_function(const struct pprof_symbol_question *q);

#endif
