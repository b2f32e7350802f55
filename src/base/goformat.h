#ifndef BASE_GOFORMAT_H
#define BASE_GOFORMAT_H

#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

/*
 * Values as Go prints them.  Output that must equal that of a Go program shows
 * durations, floats and times in Go's own formats, which printf does not have.
 */

/* "1h1m1.5s", "30s", "1.5µs", "0s". */
void goformat_duration(struct buf *out, int64_t ns);

/* The shortest decimal that reads back as the same value: "0.005", "1e-05",
 * "1e+06", "+Inf", "NaN". */
void goformat_float(struct buf *out, double value);

/* %q: in double quotes, with escapes for what cannot be printed. */
void goformat_quote(struct buf *out, struct str s);

/*
 * Local time of ns since 1970: "2006-01-02 15:04:05.9 -0700 MST" (fraction
 * without trailing zeros, none if it is zero), and without fraction and
 * offset: "2006-01-02 15:04:05 MST".
 */
void goformat_time(struct buf *out, int64_t unix_ns);
void goformat_time_seconds(struct buf *out, int64_t unix_ns);

#endif
