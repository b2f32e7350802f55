#ifndef DWARF_RESOLVE_H
#define DWARF_RESOLVE_H

#include <stdbool.h>

#include "dwarf/frame.h"

/*
 * Functions, inlined calls and lines from the debug information of a file.
 *
 * We do not use libdw: it walks a unit once for every address and keeps what it
 * has read (a large C++ binary: 360 MB; this reader: a tenth), reads files by
 * mmap, so that a truncated file raises SIGBUS, and was not made for malicious
 * files.  This reader walks a unit once for all of its addresses, skips units
 * without any, and frees what it read between units.  It uses neither malloc
 * nor locks, so it can run inside other people's programs.
 *
 * DWARF 2 to 5, split (.dwo, .dwp), compressed, and dwz's common files.
 */
struct dwarf;

/*
 * `fd` is the file with .debug_info and stays the caller's; `path` is its name,
 * beside which split and common files are searched. `memory` limits what is
 * held of the files at a time; a unit that does not fit is skipped. (The size
 * of a unit and a few megabytes are enough for speed.)  NULL: no debug
 * information, or it does not fit, or out of memory.
 */
struct dwarf *dwarf_open(int fd, const char *path, uint64_t memory);
void dwarf_free(struct dwarf *d);

/*
 * addresses[0..n) are addresses in the file, ascending. `found` is called for
 * those that were found, possibly twice if two units contain an address.
 */
void dwarf_resolve(struct dwarf *d, const uint64_t *addresses, size_t n,
                   symbol_found *found, void *arg);

/* Returns true if a unit was skipped because it did not fit. */
bool dwarf_left_out(const struct dwarf *d);

#define DWARF_NO_LIMIT UINT64_MAX

#endif
