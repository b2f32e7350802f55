#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"

/*
 * The bytes of base64 text (RFC 4648, padded or not) into out, which has room
 * for 3/4 of the text.  Returns the number of bytes, or -1 if the text is not
 * valid.
 */
ptrdiff_t base64_decode(struct str text, char *out);

/* Appends the bytes as base64 text, padded. */
void base64_encode(struct buf *out, struct str bytes);

#endif
