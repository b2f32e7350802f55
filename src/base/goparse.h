#ifndef BASE_GOPARSE_H
#define BASE_GOPARSE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/*
 * Numbers and truth values as Go's strconv reads them, for command lines
 * that must accept what a Go program accepts and refuse what it refuses.
 */
enum goparse {
    GOPARSE_OK,
    GOPARSE_SYNTAX, /* "invalid syntax" */
    GOPARSE_RANGE,  /* "value out of range" */
};

/* 1 t T true TRUE True, 0 f F false FALSE False. */
enum goparse goparse_bool(struct str s, bool *out);

/*
 * A signed integer of `bits` bits.  Base 10 is digits with an optional sign;
 * base 0 also takes 0x, 0o, 0b, a leading 0 (octal) and _ between digits.
 */
enum goparse goparse_int(struct str s, int base, int bits, int64_t *out);

/* Decimal, hexadecimal with a p exponent, Inf, Infinity, NaN; _ between
 * digits. */
enum goparse goparse_float(struct str s, double *out);

/* Go's words for a failure: "invalid syntax", "value out of range". */
const char *goparse_reason(enum goparse failure);

#endif
