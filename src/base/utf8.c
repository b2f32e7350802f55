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
