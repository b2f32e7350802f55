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
