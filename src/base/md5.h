#ifndef BASE_MD5_H
#define BASE_MD5_H

#include <stdint.h>

#include "base/str.h"

/* The MD5 digest of some bytes.  Not for security: Prometheus spreads targets
 * over collectors by it. */
void md5(struct str bytes, uint8_t out[16]);

#endif
