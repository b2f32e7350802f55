#ifndef SYMBOL_SYMBOLIZE_H
#define SYMBOL_SYMBOLIZE_H

#include "base/buf.h"
#include "base/error.h"
#include "profile/profile.h"
#include "symbol/symbolize_request.h"

/*
 * Names for the addresses of a profile: from the binaries on this machine,
 * then from the servers it came from, then demangled.
 */

/*
 * Fills in lines and functions in place.  Binaries that cannot be read and
 * servers that do not answer are reported in `messages`; they are not failures.
 */
void symbolize_profile(struct profile *p,
                       const struct symbolize_request *request,
                       struct buf *messages);

#endif
