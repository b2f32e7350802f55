#ifndef BASE_PERCENT_H
#define BASE_PERCENT_H

#include <stdbool.h>

#include "base/str.h"

/*
 * Decodes %XX (and '+' as a blank when `plus` is set) into out[0..in.n),
 * which may be in.s itself.  The decoded length, or -1 if malformed.
 */
ptrdiff_t percent_decode(struct str in, bool plus, char *out);

#endif
