#ifndef BASE_HMAC_H
#define BASE_HMAC_H

#include "base/sha256.h"
#include "base/str.h"

/* HMAC-SHA-256 (RFC 2104).  For short texts: the text is copied. */
void hmac_sha256(struct str key, struct str text,
                 unsigned char out[SHA256_BYTES]);

#endif
