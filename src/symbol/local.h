#ifndef SYMBOL_LOCAL_H
#define SYMBOL_LOCAL_H

#include "base/buf.h"
#include "profile/profile.h"

/*
 * Opens the binaries that the mappings name and fills in lines and functions.
 * Each binary that cannot be read is reported in a line of `messages`.
 */
void symbolize_local(struct profile *p, bool names_only, bool force,
                     struct buf *messages);

#endif
