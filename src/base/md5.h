#ifndef BASE_MD5_H
#define BASE_MD5_H

#include <stdint.h>

#include "base/str.h"

/* The MD5 digest of some bytes.  Not for security: Prometheus uses it to spread
 * targets over collectors. */
void md5(struct str bytes, uint8_t out[16]);

#endif
