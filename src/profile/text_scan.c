#include "profile/text_scan.h"

#include "base/utf8.h"

bool line_scanner_next(struct line_scanner *s)
{
    ptrdiff_t newline;

    s->line = STR("");
    if (s->too_long)
        return false;
    newline = str_find_char(str_first(s->rest, LINE_SCANNER_MAX), '\n');
    if (newline < 0 && s->rest.n >= LINE_SCANNER_MAX) {
        s->too_long = true;
        return false;
    }
    return str_next_line(&s->rest, &s->line);
}

bool line_scanner_ok(const struct line_scanner *s, struct error *err)
{
    if (s->too_long)
        return error_set(err, "bufio.Scanner: token too long");
    return true;
}

bool scan_is_blank_or_comment(struct str line)
{
    struct str text = utf8_trim(line);

    return text.n == 0 || text.s[0] == '#';
}

/* The value of a lower case hexadecimal digit and 1; 0 for anything else. */
static const unsigned char digit_and_1[256] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,
    ['6'] = 7,  ['7'] = 8,  ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
    ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
};

/* Millions of addresses are read by this: one pass over the bytes. */
bool scan_next_address(struct str *s, struct scan_address *out)
{
    const char *at = s->s, *end = s->s + s->n;

    for (; end - at > 2; at++) {
        const char *digits = at + 2, *p = digits;
        uint64_t value = 0, lost = 0;
        unsigned digit;

        if (at[0] != '0' || at[1] != 'x')
            continue;
        for (; p < end && (digit = digit_and_1[(unsigned char)*p]); p++) {
            lost |= value >> 60;
            value = value << 4 | (digit - 1);
        }
        if (p == digits)
            continue;
        *out = (struct scan_address){
            .text = str_of(at, (size_t)(p - at)),
            .value = value,
            .fits = lost == 0,
        };
        *s = str_of(p, (size_t)(end - p));
        return true;
    }
    return false;
}

static bool in_address_list(char c)
{
    return digit_and_1[(unsigned char)c] || c == ' ' || c == 'x';
}

struct str scan_address_list(struct str *s)
{
    return scan_run(s, in_address_list);
}

bool scan_next_digits(struct str *s, struct str *out)
{
    while (s->n && !scan_is_digit(s->s[0]))
        *s = str_skip(*s, 1);
    *out = *s;
    return scan_run(s, scan_is_digit).n > 0;
}
