#ifndef BASE_INFLATE_FAULT_H
#define BASE_INFLATE_FAULT_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

/*
 * Would Go's reader inflate the deflate stream at the front of the bytes?  If
 * not, the error has its words: "unexpected EOF" or "flate: corrupt input
 * before offset N".
 *
 * libdeflate only says that it cannot, and is now and then content with what
 * Go refuses, whereas users compare our words with those of the original.  N
 * is the number of bytes that Go's reader has taken when it notices, so this
 * walks through the stream bit by bit and takes a byte exactly when that
 * reader does.  Slow, and only for bytes that are known to be wrong.
 */
bool inflate_is_sound(struct str stream, struct error *err);

#endif
