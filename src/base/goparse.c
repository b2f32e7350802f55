/*
 * The grammar is checked by hand and the value is then computed by strtod or
 * by plain arithmetic: Go accepts underscores between digits and wants an
 * exponent in hexadecimal floats, and libc differs in both.
 */
#include "base/goparse.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

const char *goparse_reason(enum goparse failure)
{
    return failure == GOPARSE_RANGE ? "value out of range" : "invalid syntax";
}

enum goparse goparse_bool(struct str s, bool *out)
{
    static const struct str words[] = {
        STR_INIT("1"),     STR_INIT("t"),     STR_INIT("T"),
        STR_INIT("true"),  STR_INIT("TRUE"),  STR_INIT("True"),
        STR_INIT("0"),     STR_INIT("f"),     STR_INIT("F"),
        STR_INIT("false"), STR_INIT("FALSE"), STR_INIT("False"),
    };

    for (size_t i = 0; i < 12; i++) {
        if (str_eq(s, words[i])) {
            *out = i < 6;
            return GOPARSE_OK;
        }
    }
    return GOPARSE_SYNTAX;
}

static bool skip_sign(struct str *s)
{
    bool negative = s->n && s->s[0] == '-';

    if (s->n && (s->s[0] == '-' || s->s[0] == '+'))
        *s = str_skip(*s, 1);
    return negative;
}

/* 16, 8 or 2 if the text starts with 0x, 0o, 0b; else 0. */
static int prefix_base(struct str s)
{
    if (s.n < 2 || s.s[0] != '0')
        return 0;
    switch (tolower((unsigned char)s.s[1])) {
    case 'x':
        return 16;
    case 'o':
        return 8;
    case 'b':
        return 2;
    default:
        return 0;
    }
}

/* Underscores stand between digits, or between a base prefix and a digit. */
static bool underscores_ok(struct str s)
{
    char last = '^'; /* 0 after a digit or prefix, _ after one, ! otherwise */

    skip_sign(&s);
    int base = prefix_base(s);
    if (base) {
        s = str_skip(s, 2);
        last = '0';
    }
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.s[i];
        if (isdigit(c) || (base == 16 && isxdigit(c))) {
            last = '0';
        } else if (c == '_') {
            if (last != '0')
                return false;
            last = '_';
        } else {
            if (last == '_')
                return false;
            last = '!';
        }
    }
    return last != '_';
}

enum goparse goparse_int(struct str s, int base, int bits, int64_t *out)
{
    struct str whole = s;
    bool negative = skip_sign(&s), loose = base == 0;
    uint64_t limit = ((uint64_t)1 << (bits - 1)) - !negative;
    uint64_t most = UINT64_MAX >> (64 - bits), value = 0;

    if (loose) {
        base = prefix_base(s);
        if (base)
            s = str_skip(s, 2);
        else if (s.n > 1 && s.s[0] == '0')
            base = 8;
        else
            base = 10;
    }
    if (s.n == 0)
        return GOPARSE_SYNTAX;
    for (size_t i = 0; i < s.n; i++) {
        if (s.s[i] == '_' && loose)
            continue;
        int digit = str_digit(s.s[i]);
        if (digit >= base)
            return GOPARSE_SYNTAX;
        /* Checked at once, because what follows may not be a number. */
        if (__builtin_mul_overflow(value, (unsigned)base, &value) ||
            __builtin_add_overflow(value, (unsigned)digit, &value) ||
            value > most)
            return GOPARSE_RANGE;
    }
    if (loose && !underscores_ok(whole))
        return GOPARSE_SYNTAX;
    if (value > limit)
        return GOPARSE_RANGE;
    *out = negative ? (int64_t)(0 - value) : (int64_t)value;
    return GOPARSE_OK;
}

static bool same_ignoring_case(struct str s, const char *word)
{
    return str_eq_nocase(s, str_from(word));
}

/* "1.5e3", "0x1p-2": digits, one point, and an exponent that a hexadecimal
 * number must have. */
static bool float_syntax(struct str s)
{
    skip_sign(&s);
    bool hex = prefix_base(s) == 16, digits = false, point = false;
    char mark = hex ? 'p' : 'e';
    size_t i = hex ? 2 : 0;

    for (; i < s.n; i++) {
        unsigned char c = (unsigned char)s.s[i];
        if (isdigit(c) || (hex && isxdigit(c)))
            digits = true;
        else if (c == '.' && !point)
            point = true;
        else if (c != '_')
            break;
    }
    if (!digits)
        return false;
    if (i == s.n)
        return !hex;
    if (tolower((unsigned char)s.s[i]) != mark)
        return false;
    struct str exponent = str_skip(s, i + 1);
    skip_sign(&exponent);
    if (exponent.n == 0 || !isdigit((unsigned char)exponent.s[0]))
        return false;
    for (i = 0; i < exponent.n; i++)
        if (!isdigit((unsigned char)exponent.s[i]) && exponent.s[i] != '_')
            return false;
    return true;
}

enum goparse goparse_float(struct str s, double *out)
{
    struct str bare = s;
    bool negative = skip_sign(&bare);
    char text[512];
    size_t n = 0;

    if (same_ignoring_case(s, "nan")) {
        *out = NAN;
        return GOPARSE_OK;
    }
    if (same_ignoring_case(bare, "inf") ||
        same_ignoring_case(bare, "infinity")) {
        *out = negative ? -INFINITY : INFINITY;
        return GOPARSE_OK;
    }
    if (!float_syntax(s) || !underscores_ok(s) || s.n >= sizeof(text))
        return GOPARSE_SYNTAX;
    for (size_t i = 0; i < s.n; i++)
        if (s.s[i] != '_')
            text[n++] = s.s[i];
    text[n] = '\0';
    double value = strtod(text, NULL);
    if (isinf(value))
        return GOPARSE_RANGE;
    *out = value;
    return GOPARSE_OK;
}
