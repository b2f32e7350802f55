/*
 * A size is read as a double and rounded down, so that fractions work; it is
 * exact up to 2^53 bytes, which is more than any disk.
 */
#include "base/size_text.h"

#include <inttypes.h>

#include "base/goparse.h"

static const char letters[] = "KMGT";

static size_t number_length(struct str text)
{
    size_t n = 0;

    while (n < text.n &&
           ((text.s[n] >= '0' && text.s[n] <= '9') || text.s[n] == '.'))
        n++;
    return n;
}

/* 1, 1024, … for "", "K", …; 0: no unit. */
static double unit_size(struct str unit)
{
    const char *at;

    if (str_has_suffix(unit, STR("iB")) && unit.n > 2)
        unit.n -= 2;
    else if (str_has_suffix(unit, STR("B")))
        unit.n -= 1;
    if (unit.n == 0)
        return 1;
    at = unit.n == 1 ? strchr(letters, unit.s[0]) : NULL;
    return at && *at ? (double)((uint64_t)1024 << (10 * (at - letters))) : 0;
}

bool size_parse(struct str text, uint64_t *out)
{
    size_t digits;
    double value, unit;

    text = str_trim(text);
    digits = number_length(text);
    unit = unit_size(str_trim(str_skip(text, digits)));
    if (digits == 0 || unit == 0 ||
        goparse_float(str_first(text, digits), &value) != GOPARSE_OK ||
        value * unit >= 0x1p63)
        return false;
    *out = (uint64_t)(value * unit);
    return true;
}

void size_add(struct buf *out, uint64_t bytes)
{
    int unit = 0;

    while (bytes > 0 && bytes % 1024 == 0 && letters[unit]) {
        bytes /= 1024;
        unit++;
    }
    buf_addf(out, "%" PRIu64, bytes);
    if (unit > 0)
        buf_addf(out, "%cB", letters[unit - 1]);
}
