#include "base/percent.h"

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

ptrdiff_t percent_decode(struct str in, bool plus, char *out)
{
    size_t n = 0;

    for (size_t i = 0; i < in.n; i++) {
        if (in.s[i] == '%') {
            bool whole = in.n - i > 2;
            int high = whole ? hex_value(in.s[i + 1]) : -1;
            int low = whole ? hex_value(in.s[i + 2]) : -1;

            if (high < 0 || low < 0)
                return -1;
            out[n++] = (char)(high << 4 | low);
            i += 2;
        } else {
            out[n++] = plus && in.s[i] == '+' ? ' ' : in.s[i];
        }
    }
    return (ptrdiff_t)n;
}
