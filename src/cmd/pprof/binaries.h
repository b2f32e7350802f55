#ifndef CMD_PPROF_BINARIES_H
#define CMD_PPROF_BINARIES_H

#include "profile/profile.h"

/*
 * The programs and libraries that a profile names, on this machine.
 */

/* Returns true if there is a binary of this name (ELF, Mach-O, PE).  Decides
 * whether the first word of the command line is the profiled program. */
bool binaries_can_open(const char *path);

/*
 * Gives every mapping the file that $PPROF_BINARY_PATH (or
 * $HOME/pprof/binaries) has for it, by build id or by name.  Files with another
 * build id are skipped and reported on stderr.
 */
void binaries_locate(struct profile *p);

#endif
