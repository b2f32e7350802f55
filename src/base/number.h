#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/*
 * Integers as text, without printf: reports write tens of millions of them.
 */

/* The longest texts, sign included. */
#define NUMBER_I64_MAX 20
#define NUMBER_HEX_MAX 16

/* Write at `to` (room for the longest text); give the length. */
size_t number_put_u64(char *to, uint64_t value);
size_t number_put_i64(char *to, int64_t value);
size_t number_put_hex(char *to, uint64_t value); /* lower case, no 0x */

/* Two lower-case digits a byte: a build id, a colour.  2 * n in all. */
size_t number_put_bytes(char *to, const void *bytes, size_t n);

void buf_add_u64(struct buf *b, uint64_t value);
void buf_add_i64(struct buf *b, int64_t value);
void buf_add_hex(struct buf *b, uint64_t value); /* "0x1f"; zero is "0x0" */

/* Padded with spaces on the left to `width` bytes: "%*ld". */
void buf_add_i64_right(struct buf *b, int64_t value, size_t width);

/*
 * Toward zero.  What does not fit (NaN, infinities, beyond 64 bits) becomes
 * INT64_MIN: C leaves it undefined, and this is what Go programs on x86-64
 * get and print.
 */
static inline int64_t number_trunc(double value)
{
    return value >= -0x1p63 && value < 0x1p63 ? (int64_t)value : INT64_MIN;
}

#endif
