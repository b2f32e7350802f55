#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include "base/str.h"

#define SHA256_BYTES 32

/* The SHA-256 of the bytes (FIPS 180-4). */
void sha256(struct str bytes, unsigned char out[SHA256_BYTES]);

#endif
