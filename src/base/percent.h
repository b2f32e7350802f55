#ifndef BASE_PERCENT_H
#define BASE_PERCENT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

/*
 * Percent-encoding, as in URLs.
 */

/*
 * Decodes %XX (and '+' as a blank when `plus` is set) into out[0..in.n),
 * which may be in.s itself.  The decoded length, or -1 if malformed.
 */
ptrdiff_t percent_decode(struct str in, bool plus, char *out);

/* Appends the text with every byte as %XX but for letters, digits, "-._~" and
 * those in `keep`. */
void percent_encode(struct buf *out, struct str text, const char *keep);

#endif
