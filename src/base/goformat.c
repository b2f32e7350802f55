/*
 * Go's formats by hand.  The shortest decimal of a double is found by trying
 * precisions with printf until the text reads back as the same value, which is
 * slow and exact; no report prints many of them.
 */
#include "base/goformat.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/number.h"
#include "base/utf8.h"

#define NS_PER_SECOND 1000000000

/* Appends value / 10^digits as a decimal without trailing zeros. */
static void add_decimal(struct buf *out, uint64_t value, int digits)
{
    char fraction[20];
    uint64_t whole = value;
    int kept = 0;

    for (int i = digits; i-- > 0; whole /= 10) {
        fraction[i] = (char)('0' + whole % 10);
        if (kept == 0 && whole % 10 != 0)
            kept = i + 1;
    }
    buf_add_u64(out, whole);
    if (kept == 0)
        return;
    buf_add_char(out, '.');
    buf_add_bytes(out, fraction, (size_t)kept);
}

void goformat_duration(struct buf *out, int64_t ns)
{
    uint64_t left = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
    uint64_t minutes = left / NS_PER_SECOND / 60;

    if (ns < 0)
        buf_add_char(out, '-');
    if (left == 0) {
        buf_add(out, STR("0s"));
    } else if (left < 1000) {
        buf_add_u64(out, left);
        buf_add(out, STR("ns"));
    } else if (left < 1000000) {
        add_decimal(out, left, 3);
        buf_add(out, STR("µs"));
    } else if (left < NS_PER_SECOND) {
        add_decimal(out, left, 6);
        buf_add(out, STR("ms"));
    } else {
        if (minutes >= 60) {
            buf_add_u64(out, minutes / 60);
            buf_add_char(out, 'h');
        }
        if (minutes > 0) {
            buf_add_u64(out, minutes % 60);
            buf_add_char(out, 'm');
        }
        add_decimal(out, left - minutes * 60 * NS_PER_SECOND, 9);
        buf_add_char(out, 's');
    }
}

/* The digits and the decimal exponent of the shortest text for a finite
 * value > 0: value = 0.d1d2d3… * 10^*exponent. */
static int shortest_digits(double value, char digits[18], int *exponent)
{
    char text[32];
    int n = 0;

    for (int precision = 0; precision <= 16; precision++) {
        snprintf(text, sizeof(text), "%.*e", precision, value);
        if (strtod(text, NULL) == value)
            break;
    }
    for (const char *c = text; *c && *c != 'e'; c++)
        if (*c != '.')
            digits[n++] = *c;
    *exponent = (int)strtol(strchr(text, 'e') + 1, NULL, 10) + 1;
    return n;
}

/* Appends n digits with the decimal point after the first `point` of them,
 * filled with zeros on either side where there are none. */
static void add_digits(struct buf *out, const char *digits, int n, int point)
{
    if (point <= 0) {
        buf_add(out, STR("0."));
        buf_add_pad(out, '0', (size_t)-point);
        buf_add_bytes(out, digits, (size_t)n);
    } else if (n <= point) {
        buf_add_bytes(out, digits, (size_t)n);
        buf_add_pad(out, '0', (size_t)(point - n));
    } else {
        buf_add_bytes(out, digits, (size_t)point);
        buf_add_char(out, '.');
        buf_add_bytes(out, digits + point, (size_t)(n - point));
    }
}

void goformat_float(struct buf *out, double value)
{
    char digits[18];
    int n, point;

    if (isnan(value) || isinf(value)) {
        buf_add(out, isnan(value) ? STR("NaN")
                     : value > 0  ? STR("+Inf")
                                  : STR("-Inf"));
        return;
    }
    if (signbit(value))
        buf_add_char(out, '-');
    if (value == 0) {
        buf_add_char(out, '0');
        return;
    }
    n = shortest_digits(fabs(value), digits, &point);

    /* Go's bounds: 0.0001 and 100000 are the last without exponent. */
    if (point - 1 < -4 || point - 1 >= 6) {
        add_digits(out, digits, n, 1);
        buf_addf(out, "e%+03d", point - 1);
    } else {
        add_digits(out, digits, n, point);
    }
}

/* Local time up to the seconds; gives the broken-down time. */
static struct tm add_date(struct buf *out, int64_t seconds)
{
    time_t t = (time_t)seconds;
    struct tm tm = {0};

    tzset();
    localtime_r(&t, &tm);
    buf_addf(out, "%04d-%02d-%02d %02d:%02d:%02d", tm.tm_year + 1900,
             tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
    return tm;
}

static void split_time(int64_t unix_ns, int64_t *seconds, int64_t *ns)
{
    *seconds = unix_ns / NS_PER_SECOND;
    *ns = unix_ns % NS_PER_SECOND;
    if (*ns < 0) {
        *ns += NS_PER_SECOND;
        *seconds -= 1;
    }
}

void goformat_time(struct buf *out, int64_t unix_ns)
{
    char fraction[10];
    int64_t seconds, ns;
    long minutes;
    size_t n = 9;
    struct tm tm;

    split_time(unix_ns, &seconds, &ns);
    tm = add_date(out, seconds);
    if (ns != 0) {
        snprintf(fraction, sizeof(fraction), "%09d", (int)ns);
        while (fraction[n - 1] == '0')
            n--;
        buf_add_char(out, '.');
        buf_add_bytes(out, fraction, n);
    }
    minutes = labs(tm.tm_gmtoff) / 60;
    buf_addf(out, " %c%02ld%02ld %s", tm.tm_gmtoff < 0 ? '-' : '+',
             minutes / 60, minutes % 60, tm.tm_zone);
}

void goformat_time_seconds(struct buf *out, int64_t unix_ns)
{
    int64_t seconds, ns;
    struct tm tm;

    split_time(unix_ns, &seconds, &ns);
    tm = add_date(out, seconds);
    buf_addf(out, " %s", tm.tm_zone);
}

/* Controls, spaces but the plain one, format characters, private use: what
 * Go's %q escapes (of the unassigned ones only the ends of planes). */
static bool printable(uint32_t c)
{
    static const uint32_t ranges[][2] = {
        {0x00, 0x1f},       {0x7f, 0xa0},        {0xad, 0xad},
        {0x600, 0x605},     {0x61c, 0x61c},      {0x6dd, 0x6dd},
        {0x70f, 0x70f},     {0x1680, 0x1680},    {0x180e, 0x180e},
        {0x2000, 0x200f},   {0x2028, 0x202f},    {0x205f, 0x206f},
        {0x3000, 0x3000},   {0xd800, 0xf8ff},    {0xfdd0, 0xfdef},
        {0xfeff, 0xfeff},   {0xfff0, 0xfffb},    {0xfffe, 0xffff},
        {0x1fffe, 0x1ffff}, {0xe0000, 0x10ffff},
    };

    for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++)
        if (c >= ranges[i][0] && c <= ranges[i][1])
            return false;
    return true;
}

void goformat_quote(struct buf *out, struct str s)
{
    static const char letters[] = "abtnvfr"; /* for 7 to 13 */

    buf_add_char(out, '"');
    while (s.n) {
        size_t n;
        uint32_t c = utf8_decode(s, &n);

        if (c == UTF8_REPLACEMENT && n == 1)
            buf_addf(out, "\\x%02x", (unsigned char)s.s[0]);
        else if (c == '"' || c == '\\')
            buf_addf(out, "\\%c", (char)c);
        else if (printable(c))
            buf_add(out, str_first(s, n));
        else if (c >= '\a' && c <= '\r')
            buf_addf(out, "\\%c", letters[c - '\a']);
        else if (c < ' ' || c == 0x7f)
            buf_addf(out, "\\x%02x", c);
        else
            buf_addf(out, c > 0xffff ? "\\U%08x" : "\\u%04x", c);
        s = str_skip(s, n);
    }
    buf_add_char(out, '"');
}
