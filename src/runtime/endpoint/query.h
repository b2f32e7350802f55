#ifndef RUNTIME_ENDPOINT_QUERY_H
#define RUNTIME_ENDPOINT_QUERY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/*
 * Parameters of a URL's query, parsed as by Go's handlers: the first value
 * counts; a malformed value counts as absent, and so does a parameter with a
 * semicolon.
 */

/* The decoded value in out[0..size); false if absent or empty.  One that is
 * longer comes cut off and not decoded: no number is that long. */
bool query_get(struct str query, struct str key, char *out, size_t size,
               struct str *value);

/* seconds= as a decimal with point and exponent; false if it is not a
 * number. */
bool query_seconds(struct str query, double *out);

/* A number up to max; 0 if absent. */
uint64_t query_number(struct str query, struct str key, uint64_t max);

/* Returns true if the parameter is present and is a number other than 0. */
bool query_flag(struct str query, struct str key);

/* debug=: any decimal integer; everything else is 0. */
int64_t query_debug(struct str query);

#endif
