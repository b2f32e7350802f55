#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include "base/buf.h"
#include "base/str.h"

/* The length of the code point at the start of a text, 0 if there is no
 * valid one. */
size_t utf8_sequence(struct str text);

/* What a byte that is not part of a code point is read as. */
#define UTF8_REPLACEMENT 0xfffdu

/* The code point that a text (not empty) starts with, and its length; a byte
 * that is not part of one is U+FFFD of length 1. */
uint32_t utf8_decode(struct str text, size_t *length);

/* Code points in a text; a byte that is not part of one counts as one. */
size_t utf8_count(struct str s);

/* Trims white space: ASCII's, and Unicode's such as U+00A0 and U+3000 (Go's
 * strings.TrimSpace). */
struct str utf8_trim(struct str s);

/* The text padded with spaces on the left (right) to `width` code points,
 * as Go's %10s and %-10s do. */
void buf_add_right(struct buf *b, struct str s, size_t width);
void buf_add_left(struct buf *b, struct str s, size_t width);

/* The same for what was appended since the buffer was `start` bytes long. */
void buf_align_right(struct buf *b, size_t start, size_t width);

/* Appends a code point. */
void utf8_add(struct buf *out, uint32_t c);

#endif
