#include "base/base64.h"

static int value_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

ptrdiff_t base64_decode(struct str text, char *out)
{
    uint32_t bits = 0;
    ptrdiff_t n = 0;
    unsigned held = 0;

    if (text.n % 4 == 0)
        for (int i = 0; i < 2 && str_has_suffix(text, STR("=")); i++)
            text.n--;
    if (text.n % 4 == 1)
        return -1;
    for (size_t i = 0; i < text.n; i++) {
        int v = value_of(text.s[i]);

        if (v < 0)
            return -1;
        bits = bits << 6 | (uint32_t)v;
        held += 6;
        if (held >= 8) {
            held -= 8;
            out[n++] = (char)(bits >> held & 0xff);
        }
    }
    return (bits & ((1u << held) - 1)) == 0 ? n : -1;
}

void base64_encode(struct buf *out, struct str bytes)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "abcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *from = (const unsigned char *)bytes.s;
    char *to = buf_reserve(out, (bytes.n + 2) / 3 * 4);

    if (!to)
        return;
    for (size_t i = 0; i < bytes.n; i += 3) {
        size_t n = bytes.n - i < 3 ? bytes.n - i : 3;
        uint32_t bits = (uint32_t)from[i] << 16;

        if (n > 1)
            bits |= (uint32_t)from[i + 1] << 8;
        if (n > 2)
            bits |= from[i + 2];
        for (size_t k = 0; k < 4; k++)
            to[k] = k <= n ? letters[bits >> (18 - 6 * k) & 63] : '=';
        to += 4;
    }
    out->len += (bytes.n + 2) / 3 * 4;
}
