#ifndef BASE_INFLATE_FAULT_H
#define BASE_INFLATE_FAULT_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

/*
 * Returns true if Go's reader would inflate the deflate stream at the front of
 * the bytes.  Otherwise the error has Go's text: "unexpected EOF" or "flate:
 * corrupt input before offset N".
 *
 * libdeflate only reports that it failed, and sometimes accepts what Go
 * rejects, but our errors must equal google/pprof's.  N is the number of bytes
 * that Go's reader has consumed when it notices, so this walks through the
 * stream bit by bit and consumes each byte exactly when that reader does.  It
 * is slow; call it only for bytes that are known to be corrupt.
 */
bool inflate_is_sound(struct str stream, struct error *err);

#endif
