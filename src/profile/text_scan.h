#ifndef PROFILE_TEXT_SCAN_H
#define PROFILE_TEXT_SCAN_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

/*
 * Reading text line by line and a line piece by piece.
 *
 * The scan_ functions take something off the front of *s.  Those that return
 * bool or a text leave *s as it is when there is nothing to take, so a shape
 * is a chain of them:
 *
 *     scan_text(&s, STR("heap profile:")) && scan_number(&s, &count) && …
 */

/*
 * Lines without LF or CRLF.  A line of 64 KiB or more ends the text with an
 * error, as it does for Go's bufio.Scanner: the formats are defined by what
 * such a reader accepts.
 */
struct line_scanner {
    struct str rest;
    struct str line; /* the current one; "" before the first, after the last */
    bool too_long;
};

#define LINE_SCANNER_MAX 65536

static inline struct line_scanner line_scanner_of(struct str text)
{
    return (struct line_scanner){.rest = text};
}

bool line_scanner_next(struct line_scanner *s);

/* False, with the error set, if a long line ended the text. */
bool line_scanner_ok(const struct line_scanner *s, struct error *err);

/* Nothing but white space, or a comment from # on. */
bool scan_is_blank_or_comment(struct str line);

static inline bool scan_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool scan_is_lower_hex(char c)
{
    return scan_is_digit(c) || (c >= 'a' && c <= 'f');
}

static inline bool scan_is_hex(char c)
{
    return scan_is_lower_hex(c) || (c >= 'A' && c <= 'F');
}

/* \s of a regular expression, which knows no vertical tab. */
static inline bool scan_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r';
}

static inline struct str scan_run(struct str *s, bool (*belongs)(char c))
{
    struct str run = {s->s, 0};

    while (run.n < s->n && belongs(s->s[run.n]))
        run.n++;
    *s = str_skip(*s, run.n);
    return run;
}

static inline bool scan_char(struct str *s, char c)
{
    if (!s->n || s->s[0] != c)
        return false;
    *s = str_skip(*s, 1);
    return true;
}

static inline bool scan_text(struct str *s, struct str text)
{
    if (!str_has_prefix(*s, text))
        return false;
    *s = str_skip(*s, text.n);
    return true;
}

/* Any blanks (only ' '); always true. */
static inline bool scan_blanks(struct str *s)
{
    while (s->n && s->s[0] == ' ')
        *s = str_skip(*s, 1);
    return true;
}

/* At least one space of any kind. */
static inline bool scan_spaces(struct str *s)
{
    return scan_run(s, scan_is_space).n > 0;
}

/* At least one decimal digit. */
static inline bool scan_digits(struct str *s, struct str *out)
{
    *out = scan_run(s, scan_is_digit);
    return out->n > 0;
}

/* At least one hexadecimal digit. */
static inline bool scan_hex(struct str *s, struct str *out)
{
    *out = scan_run(s, scan_is_hex);
    return out->n > 0;
}

/*
 * The next "0x" with lower case hexadecimal digits anywhere in *s; *s goes
 * on behind it.  False when there is none.
 */
struct scan_address {
    struct str text; /* with the 0x */
    uint64_t value;
    bool fits; /* 64 bits are enough */
};

bool scan_next_address(struct str *s, struct scan_address *out);

/* The blanks, x and lower case digits at the front: an address list. */
struct str scan_address_list(struct str *s);

/*
 * Splits at the next run of digits in *s: *out starts there and *s behind
 * it.  The way to look for a shape that starts with a number.
 */
bool scan_next_digits(struct str *s, struct str *out);

#endif
