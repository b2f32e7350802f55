#ifndef DWARF_RESOLVE_H
#define DWARF_RESOLVE_H

#include <stdbool.h>

#include "dwarf/frame.h"

/*
 * Functions, inlined calls and lines from the debug information of a file.
 *
 * Own, and not libdw: that one walks a unit once for every address and keeps
 * what it has read (a big C++ binary: 360 MB; this: a tenth), reads files by
 * mmap, so that one cut short under it is a SIGBUS, and was not made for
 * files that lie.  Here a unit that holds addresses is walked once for all of
 * them, others are not looked at, and what was read is forgotten between
 * units.  It uses neither malloc nor a lock, so it may run inside strangers.
 *
 * DWARF 2 to 5, split (.dwo, .dwp), compressed, and dwz's common files.
 */
struct dwarf;

/*
 * `fd` is the file with .debug_info and stays the caller's; `path` its name,
 * beside which split and common files are looked for.  `memory` is about
 * what may be held of the files at a time; a unit that does not fit is left
 * out.  (A unit and some megabytes are enough for speed: more is not kept.)
 * NULL: no debug information, or it does not fit, or out of memory.
 */
struct dwarf *dwarf_open(int fd, const char *path, uint64_t memory);
void dwarf_free(struct dwarf *d);

/*
 * addresses[0..n) are those of the file, in rising order.  `found` is called
 * for those that have an answer, possibly twice where two units claim one.
 */
void dwarf_resolve(struct dwarf *d, const uint64_t *addresses, size_t n,
                   symbol_found *found, void *arg);

/* Was a unit left out because it did not fit? */
bool dwarf_left_out(const struct dwarf *d);

#define DWARF_NO_LIMIT UINT64_MAX

#endif
