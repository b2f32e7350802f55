#include "base/percent.h"

ptrdiff_t percent_decode(struct str in, bool plus, char *out)
{
    size_t n = 0;

    for (size_t i = 0; i < in.n; i++) {
        if (in.s[i] == '%') {
            bool whole = in.n - i > 2;
            int high = whole ? str_digit(in.s[i + 1]) : 99;
            int low = whole ? str_digit(in.s[i + 2]) : 99;

            if (high > 15 || low > 15)
                return -1;
            out[n++] = (char)(high << 4 | low);
            i += 2;
        } else {
            out[n++] = plus && in.s[i] == '+' ? ' ' : in.s[i];
        }
    }
    return (ptrdiff_t)n;
}

static bool is_unreserved(char c)
{
    return str_digit(c) < 36 || c == '-' || c == '.' || c == '_' || c == '~';
}

void percent_encode(struct buf *out, struct str text, const char *keep)
{
    for (size_t i = 0; i < text.n; i++) {
        char c = text.s[i];

        if (is_unreserved(c) || (c && strchr(keep, c)))
            buf_add_char(out, c);
        else
            buf_addf(out, "%%%02X", (unsigned char)c);
    }
}
