/*
 * UTF-8 as Go reads it: overlong forms, surrogates and values above U+10FFFF
 * are invalid, and an invalid byte counts as one character.  Padding counts
 * code points, since columns of reports are aligned that way.
 */
#include "base/utf8.h"

size_t utf8_sequence(struct str text)
{
    const unsigned char *s = (const unsigned char *)text.s;
    unsigned char low = 0x80, high = 0xbf;
    size_t len;

    if (text.n == 0)
        return 0;
    if (s[0] < 0x80)
        return 1;
    len = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    if (s[0] < 0xc2 || s[0] > 0xf4 || text.n < len)
        return 0;
    /* No overlong forms, no surrogates, nothing above U+10FFFF. */
    if (s[0] == 0xe0)
        low = 0xa0;
    if (s[0] == 0xed)
        high = 0x9f;
    if (s[0] == 0xf0)
        low = 0x90;
    if (s[0] == 0xf4)
        high = 0x8f;
    if (s[1] < low || s[1] > high)
        return 0;
    for (size_t i = 2; i < len; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    return len;
}

uint32_t utf8_decode(struct str text, size_t *length)
{
    const unsigned char *s = (const unsigned char *)text.s;
    size_t n = utf8_sequence(text);
    uint32_t c;

    *length = n ? n : 1;
    if (n == 0)
        return UTF8_REPLACEMENT;
    c = n == 1 ? s[0] : s[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++)
        c = c << 6 | (s[i] & 0x3f);
    return c;
}

size_t utf8_count(struct str s)
{
    size_t count = 0;

    for (size_t i = 0; i < s.n; count++) {
        size_t n =
            (unsigned char)s.s[i] < 0x80 ? 1 : utf8_sequence(str_skip(s, i));

        i += n > 0 ? n : 1;
    }
    return count;
}

static bool is_ascii_space(unsigned char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Returns true if the n bytes at p are one white space character beyond
 * ASCII. */
static bool is_wide_space(const char *text, size_t n)
{
    const unsigned char *p = (const unsigned char *)text;

    if (n == 2) /* U+0085, U+00A0 */
        return p[0] == 0xc2 && (p[1] == 0x85 || p[1] == 0xa0);
    if (n != 3)
        return false;
    if (p[0] == 0xe1) /* U+1680 */
        return p[1] == 0x9a && p[2] == 0x80;
    if (p[0] == 0xe3) /* U+3000 */
        return p[1] == 0x80 && p[2] == 0x80;
    if (p[0] != 0xe2)
        return false;
    if (p[1] == 0x81) /* U+205F */
        return p[2] == 0x9f;
    /* U+2000 to U+200A, U+2028, U+2029, U+202F */
    return p[1] == 0x80 && ((p[2] >= 0x80 && p[2] <= 0x8a) || p[2] == 0xa8 ||
                            p[2] == 0xa9 || p[2] == 0xaf);
}

/* The bytes of the white space at the start (end) of s; 0 when none. */
static size_t space_at_start(struct str s)
{
    if (s.n && is_ascii_space((unsigned char)s.s[0]))
        return 1;
    for (size_t n = 2; n <= 3 && n <= s.n; n++)
        if (is_wide_space(s.s, n))
            return n;
    return 0;
}

static size_t space_at_end(struct str s)
{
    if (s.n && is_ascii_space((unsigned char)s.s[s.n - 1]))
        return 1;
    for (size_t n = 2; n <= 3 && n <= s.n; n++)
        if (is_wide_space(s.s + s.n - n, n))
            return n;
    return 0;
}

struct str utf8_trim(struct str s)
{
    size_t n;

    while ((n = space_at_start(s)))
        s = str_skip(s, n);
    while ((n = space_at_end(s)))
        s.n -= n;
    return s;
}

void buf_add_right(struct buf *b, struct str s, size_t width)
{
    size_t n = utf8_count(s);

    if (n < width)
        buf_add_pad(b, ' ', width - n);
    buf_add(b, s);
}

void buf_add_left(struct buf *b, struct str s, size_t width)
{
    size_t n = utf8_count(s);

    buf_add(b, s);
    if (n < width)
        buf_add_pad(b, ' ', width - n);
}

void buf_align_right(struct buf *b, size_t start, size_t width)
{
    size_t n = utf8_count(str_of(b->data + start, b->len - start));

    if (n >= width || !buf_reserve(b, width - n))
        return;
    memmove(b->data + start + (width - n), b->data + start, b->len - start);
    memset(b->data + start, ' ', width - n);
    b->len += width - n;
}

void utf8_add(struct buf *out, uint32_t c)
{
    if (c < 0x80) {
        buf_add_char(out, (char)c);
        return;
    }
    if (c < 0x800) {
        buf_add_char(out, (char)(0xc0 | c >> 6));
    } else {
        if (c < 0x10000) {
            buf_add_char(out, (char)(0xe0 | c >> 12));
        } else {
            buf_add_char(out, (char)(0xf0 | c >> 18));
            buf_add_char(out, (char)(0x80 | (c >> 12 & 0x3f)));
        }
        buf_add_char(out, (char)(0x80 | (c >> 6 & 0x3f)));
    }
    buf_add_char(out, (char)(0x80 | (c & 0x3f)));
}
