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
