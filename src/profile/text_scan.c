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

bool scan_next_address(struct str *s, struct str *out)
{
    for (;;) {
        ptrdiff_t at = str_find(*s, STR("0x"));
        struct str digits;

        if (at < 0)
            return false;
        *s = str_skip(*s, (size_t)at);
        out->s = s->s;
        *s = str_skip(*s, 2);
        digits = scan_run(s, scan_is_lower_hex);
        if (digits.n) {
            out->n = digits.n + 2;
            return true;
        }
    }
}

static bool in_address_list(char c)
{
    return c == ' ' || c == 'x' || scan_is_lower_hex(c);
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
