/*
 * Times are read by hand: strptime() knows neither fractions nor zones, and
 * accepts more than the forms we document.  A calendar date becomes days
 * since 1970 by the usual formula for the proleptic Gregorian calendar.
 */
#include "base/time_text.h"

#include "base/clock.h"

#include <inttypes.h>
#include <time.h>

/* a + b, or the nearest end of the range. */
static int64_t add_clamped(int64_t a, int64_t b)
{
    int64_t sum;

    if (!__builtin_add_overflow(a, b, &sum))
        return sum;
    return b < 0 ? INT64_MIN : INT64_MAX;
}

/* Reads exactly `digits` digits off the front of *s. */
static bool take_digits(struct str *s, size_t digits, int64_t *out)
{
    int64_t value = 0;

    if (s->n < digits)
        return false;
    for (size_t i = 0; i < digits; i++) {
        if (s->s[i] < '0' || s->s[i] > '9')
            return false;
        value = value * 10 + (s->s[i] - '0');
    }
    *s = str_skip(*s, digits);
    *out = value;
    return true;
}

static bool take_char(struct str *s, char c)
{
    if (s->n == 0 || s->s[0] != c)
        return false;
    *s = str_skip(*s, 1);
    return true;
}

/* Digits after a decimal point as nanoseconds; those beyond the ninth are
 * dropped.  At least one. */
static bool take_fraction(struct str *s, int64_t *out)
{
    int64_t value = 0, unit = SECOND / 10;
    size_t n = 0;

    for (; n < s->n && s->s[n] >= '0' && s->s[n] <= '9'; n++) {
        value += (s->s[n] - '0') * unit;
        unit /= 10;
    }
    *s = str_skip(*s, n);
    *out = value;
    return n > 0;
}

static bool is_leap(int64_t year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int64_t days_in_month(int64_t year, int64_t month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

    return days[month - 1] + (month == 2 && is_leap(year));
}

/* Days since 1970-01-01; the year starts in March, so that leap days come
 * last. */
static int64_t days_from_date(int64_t year, int64_t month, int64_t day)
{
    int64_t y = year - (month <= 2);
    int64_t m = month + (month <= 2 ? 9 : -3);

    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 -
           719468;
}

static bool take_date(struct str *s, int64_t *days)
{
    int64_t year, month, day;

    if (!take_digits(s, 4, &year) || !take_char(s, '-') ||
        !take_digits(s, 2, &month) || !take_char(s, '-') ||
        !take_digits(s, 2, &day))
        return false;
    if (year < 1 || month < 1 || month > 12 || day < 1 ||
        day > days_in_month(year, month))
        return false;
    *days = days_from_date(year, month, day);
    return true;
}

/* hh:mm:ss with an optional fraction; profefe also takes a one-digit hour. */
static bool take_clock(struct str *s, bool short_hour, int64_t *seconds,
                       int64_t *nanos)
{
    int64_t hour, minute, second;
    bool one = short_hour && s->n > 1 && s->s[1] == ':';

    *nanos = 0;
    if (!take_digits(s, one ? 1 : 2, &hour) || !take_char(s, ':') ||
        !take_digits(s, 2, &minute) || !take_char(s, ':') ||
        !take_digits(s, 2, &second))
        return false;
    if (hour > 23 || minute > 59 || second > 59)
        return false;
    *seconds = hour * 3600 + minute * 60 + second;
    if (take_char(s, '.') || take_char(s, ','))
        return take_fraction(s, nanos);
    return true;
}

/* "Z", "+01:00", or nothing for UTC. */
static bool take_zone(struct str *s, int64_t *seconds)
{
    int64_t hours, minutes;
    bool west;

    *seconds = 0;
    if (s->n == 0 || take_char(s, 'Z') || take_char(s, 'z'))
        return true;
    west = s->s[0] == '-';
    if (!take_char(s, west ? '-' : '+') || !take_digits(s, 2, &hours) ||
        !take_char(s, ':') || !take_digits(s, 2, &minutes) || hours > 23 ||
        minutes > 59)
        return false;
    *seconds = (hours * 3600 + minutes * 60) * (west ? -1 : 1);
    return true;
}

static int64_t clamp_to_ns(int64_t seconds, int64_t nanos)
{
    int64_t ns;

    if (__builtin_mul_overflow(seconds, SECOND, &ns) ||
        __builtin_add_overflow(ns, nanos, &ns))
        return seconds < 0 ? INT64_MIN : INT64_MAX;
    return ns;
}

static bool parse_calendar(struct str s, int64_t *out)
{
    int64_t days, clock = 0, nanos = 0, zone = 0;

    if (!take_date(&s, &days))
        return false;
    if (s.n > 0 &&
        ((!take_char(&s, 'T') && !take_char(&s, 't') && !take_char(&s, ' ')) ||
         !take_clock(&s, false, &clock, &nanos) || !take_zone(&s, &zone)))
        return false;
    if (s.n > 0)
        return false;
    *out = clamp_to_ns(days * 86400 + clock - zone, nanos);
    return true;
}

/* Seconds since 1970 with an optional fraction and sign. */
static bool parse_unix(struct str s, int64_t *out)
{
    int64_t seconds, nanos = 0;
    ptrdiff_t point = str_find_char(s, '.');
    struct str whole = point < 0 ? s : str_first(s, (size_t)point);
    bool negative = s.n > 0 && s.s[0] == '-';

    if (!str_to_i64(whole, 10, &seconds))
        return false;
    if (point >= 0) {
        s = str_skip(s, (size_t)point + 1);
        if (!take_fraction(&s, &nanos) || s.n > 0)
            return false;
    }
    *out = clamp_to_ns(seconds, negative ? -nanos : nanos);
    return true;
}

static bool parse_relative(struct str s, int64_t now_ns, int64_t *out)
{
    int64_t distance = 0;
    struct error ignored;
    bool back;

    if (!str_has_prefix(s, STR("now")))
        return false;
    s = str_skip(s, 3);
    back = s.n > 0 && s.s[0] == '-';
    if (s.n > 0 && ((!back && s.s[0] != '+') ||
                    !duration_parse(str_skip(s, 1), &distance, &ignored)))
        return false;
    *out = add_clamped(now_ns, back ? -distance : distance);
    return true;
}

bool time_parse(struct str text, int64_t now_ns, int64_t *out,
                struct error *err)
{
    struct str s = str_trim(text);

    if (parse_relative(s, now_ns, out) || parse_calendar(s, out) ||
        parse_unix(s, out))
        return true;
    return error_set(err,
                     "cannot read the time \"%" STR_FMT
                     "\"; write 2026-01-31T08:00:00Z, Unix seconds or now-1h",
                     STR_ARG(str_first(text, text.n < 64 ? text.n : 64)));
}

bool time_parse_profefe(struct str text, int64_t *out, struct error *err)
{
    struct str s = text;
    int64_t days, clock, nanos;

    if (take_date(&s, &days) && take_char(&s, 'T') &&
        take_clock(&s, true, &clock, &nanos) && s.n == 0 &&
        !(days == days_from_date(1, 1, 1) && clock == 0 && nanos == 0)) {
        *out = clamp_to_ns(days * 86400 + clock, nanos);
        return true;
    }
    return error_set(err, "time in unsupported format \"%" STR_FMT "\"",
                     STR_ARG(text));
}

/* The length of a unit at the start of s in ns, and of its name. */
static int64_t unit_ns(struct str s, size_t *n)
{
    static const struct {
        struct str name;
        int64_t ns;
    } units[] = {
        {STR_INIT("ns"), 1},
        {STR_INIT("us"), 1000},
        {STR_INIT("ms"), 1000000},
        {STR_INIT("s"), SECOND},
        {STR_INIT("m"), 60 * SECOND},
        {STR_INIT("h"), 3600 * SECOND},
        {STR_INIT("d"), 86400 * SECOND},
        {STR_INIT("w"), 7 * 86400 * SECOND},
        {STR_INIT("y"), 365 * 86400 * SECOND},
    };

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (str_has_prefix(s, units[i].name)) {
            *n = units[i].name.n;
            return units[i].ns;
        }
    return 0;
}

/* One number with its unit, "1.5h". */
static bool take_part(struct str *s, int64_t *out)
{
    size_t digits = 0, n;
    int64_t whole, fraction = 0, unit;
    struct str rest;

    while (digits < s->n && s->s[digits] >= '0' && s->s[digits] <= '9')
        digits++;
    rest = str_skip(*s, digits);
    if (!str_to_i64(str_first(*s, digits), 10, &whole) ||
        (take_char(&rest, '.') && !take_fraction(&rest, &fraction)))
        return false;
    unit = unit_ns(rest, &n);
    if (unit == 0)
        return false;
    *s = str_skip(rest, n);
    fraction = (int64_t)((double)fraction / SECOND * (double)unit);
    return !__builtin_mul_overflow(whole, unit, out) &&
           !__builtin_add_overflow(*out, fraction, out);
}

bool duration_parse(struct str text, int64_t *out, struct error *err)
{
    struct str s = str_trim(text);
    int64_t sum = 0, part;
    bool ok = s.n > 0;

    if (ok && parse_unix(s, &sum) && sum >= 0) {
        *out = sum;
        return true;
    }
    sum = 0;
    while (ok && s.n > 0) {
        ok = take_part(&s, &part) && !__builtin_add_overflow(sum, part, &sum);
    }
    if (!ok)
        return error_set(err,
                         "cannot read the duration \"%" STR_FMT
                         "\"; write 30s, 5m, 1h30m or 7d",
                         STR_ARG(str_first(text, text.n < 64 ? text.n : 64)));
    *out = sum;
    return true;
}

void duration_add(struct buf *out, int64_t ns)
{
    static const struct {
        const char *name;
        int64_t ns;
    } parts[] = {
        {"d", 86400 * SECOND},
        {"h", 3600 * SECOND},
        {"m", 60 * SECOND},
        {"s", SECOND},
        {"ms", 1000000},
        {"us", 1000},
        {"ns", 1},
    };

    if (ns == 0)
        buf_add_char(out, '0');
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (ns >= parts[i].ns)
            buf_addf(out, "%" PRId64 "%s", ns / parts[i].ns, parts[i].name);
        ns %= parts[i].ns;
    }
}

/* Floor division, so that times before 1970 come out right. */
static void split_ns(int64_t ns, struct tm *tm, int64_t *nanos)
{
    int64_t seconds = ns / SECOND;
    time_t t;

    *nanos = ns % SECOND;
    if (*nanos < 0) {
        *nanos += SECOND;
        seconds--;
    }
    t = (time_t)seconds;
    gmtime_r(&t, tm);
}

static void add_date_and_clock(struct buf *out, const struct tm *tm,
                               char between)
{
    buf_addf(out, "%04d-%02d-%02d%c%02d:%02d:%02d", tm->tm_year + 1900,
             tm->tm_mon + 1, tm->tm_mday, between, tm->tm_hour, tm->tm_min,
             tm->tm_sec);
}

/* ".5" for half a second, nothing for none. */
static void add_fraction(struct buf *out, int64_t nanos)
{
    char digits[10];
    size_t n = 9;

    if (nanos == 0)
        return;
    for (size_t i = 9; i-- > 0; nanos /= 10)
        digits[i] = (char)('0' + nanos % 10);
    while (digits[n - 1] == '0')
        n--;
    buf_add_char(out, '.');
    buf_add_bytes(out, digits, n);
}

void time_add_rfc3339(struct buf *out, int64_t ns)
{
    struct tm tm;
    int64_t nanos;

    split_ns(ns, &tm, &nanos);
    add_date_and_clock(out, &tm, 'T');
    buf_add_char(out, 'Z');
}

void time_add_rfc3339_nanos(struct buf *out, int64_t ns)
{
    struct tm tm;
    int64_t nanos;

    split_ns(ns, &tm, &nanos);
    add_date_and_clock(out, &tm, 'T');
    add_fraction(out, nanos);
    buf_add_char(out, 'Z');
}

void time_add_go(struct buf *out, int64_t ns)
{
    struct tm tm;
    int64_t nanos;

    split_ns(ns, &tm, &nanos);
    add_date_and_clock(out, &tm, ' ');
    add_fraction(out, nanos);
    buf_add(out, STR(" +0000 UTC"));
}
