#ifndef BASE_GZIP_H
#define BASE_GZIP_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

/* Returns true if the bytes start like gzip. */
bool gzip_detect(struct str bytes);

/*
 * Inflates one or several members, appending to `out` whose max is the
 * limit.  Errors in Go's words: "unexpected EOF", "gzip: invalid header",
 * "gzip: invalid checksum", "flate: corrupt input before offset N".
 */
bool gzip_inflate(struct str bytes, struct buf *out, struct error *err);

/* One gzip member around all of `bytes`, appended to `out`. */
bool gzip_deflate(struct str bytes, struct buf *out, struct error *err);

#endif
