/*
 * Nothing is built: a value is a piece of the text, and asking for a member
 * walks over the pieces before it.  So it needs no memory and cannot run out
 * of it, which is why libpprof uses it.  Depth is limited, since values nest
 * by recursion.
 */
#include "base/json_view.h"

#include "base/utf8.h"

#define MAX_DEPTH 32

static bool skip_value(struct str *rest, int depth);

static void skip_blanks(struct str *rest)
{
    while (rest->n > 0 && (*rest->s == ' ' || *rest->s == '\t' ||
                           *rest->s == '\n' || *rest->s == '\r'))
        *rest = str_skip(*rest, 1);
}

static bool take(struct str *rest, char c)
{
    skip_blanks(rest);
    if (rest->n == 0 || *rest->s != c)
        return false;
    *rest = str_skip(*rest, 1);
    return true;
}

static bool take_hex4(struct str *rest, unsigned *out)
{
    uint64_t v;

    if (rest->n < 4 || !str_to_u64(str_first(*rest, 4), 16, &v))
        return false;
    *rest = str_skip(*rest, 4);
    *out = (unsigned)v;
    return true;
}

/* Behind "\u": one code point, of two halves if need be. */
static bool take_code_point(struct str *rest, unsigned *out)
{
    unsigned low;

    if (!take_hex4(rest, out))
        return false;
    if (*out < 0xd800 || *out > 0xdfff)
        return true;
    if (*out > 0xdbff || rest->n < 2 || rest->s[0] != '\\' || rest->s[1] != 'u')
        return false;
    *rest = str_skip(*rest, 2);
    if (!take_hex4(rest, &low) || low < 0xdc00 || low > 0xdfff)
        return false;
    *out = 0x10000 + ((*out & 0x3ff) << 10) + (low & 0x3ff);
    return true;
}

/* Behind a backslash. */
static bool take_escape(struct str *rest, struct buf *out)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    const char *found;
    unsigned c;

    if (rest->n == 0)
        return false;
    found = memchr(names, *rest->s, sizeof(names) - 1);
    if (found) {
        c = (unsigned char)values[found - names];
        *rest = str_skip(*rest, 1);
    } else {
        if (*rest->s != 'u')
            return false;
        *rest = str_skip(*rest, 1);
        if (!take_code_point(rest, &c))
            return false;
    }
    if (out)
        utf8_add(out, c);
    return true;
}

/* A string into out, which may be NULL. */
static bool take_string(struct str *rest, struct buf *out)
{
    if (!take(rest, '"'))
        return false;
    while (rest->n > 0) {
        unsigned char c = (unsigned char)*rest->s;

        *rest = str_skip(*rest, 1);
        if (c == '"')
            return true;
        if (c < ' ' || (c == '\\' && !take_escape(rest, out)))
            return false;
        if (c != '\\' && out)
            buf_add_char(out, (char)c);
    }
    return false;
}

static size_t skip_digits(struct str *rest)
{
    size_t n = 0;

    while (n < rest->n && rest->s[n] >= '0' && rest->s[n] <= '9')
        n++;
    *rest = str_skip(*rest, n);
    return n;
}

static bool skip_number(struct str *rest)
{
    bool zero;

    if (*rest->s == '-')
        *rest = str_skip(*rest, 1);
    zero = rest->n > 0 && *rest->s == '0';
    if (zero)
        *rest = str_skip(*rest, 1);
    else if (skip_digits(rest) == 0)
        return false;
    if (rest->n > 0 && *rest->s == '.') {
        *rest = str_skip(*rest, 1);
        if (skip_digits(rest) == 0)
            return false;
    }
    if (rest->n > 0 && (*rest->s | 0x20) == 'e') {
        *rest = str_skip(*rest, 1);
        if (rest->n > 0 && (*rest->s == '+' || *rest->s == '-'))
            *rest = str_skip(*rest, 1);
        if (skip_digits(rest) == 0)
            return false;
    }
    return true;
}

static bool skip_members(struct str *rest, char end, int depth)
{
    *rest = str_skip(*rest, 1);
    if (take(rest, end))
        return true;
    do {
        if (end == '}' && (!take_string(rest, NULL) || !take(rest, ':')))
            return false;
        if (!skip_value(rest, depth + 1))
            return false;
    } while (take(rest, ','));
    return take(rest, end);
}

static bool skip_value(struct str *rest, int depth)
{
    static const struct str words[] = {STR_INIT("true"), STR_INIT("false"),
                                       STR_INIT("null")};

    skip_blanks(rest);
    if (rest->n == 0 || depth > MAX_DEPTH)
        return false;
    if (*rest->s == '{' || *rest->s == '[')
        return skip_members(rest, *rest->s == '{' ? '}' : ']', depth);
    if (*rest->s == '"')
        return take_string(rest, NULL);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (str_has_prefix(*rest, words[i])) {
            *rest = str_skip(*rest, words[i].n);
            return true;
        }
    return skip_number(rest);
}

/* The value at the front of *rest. */
static bool take_value(struct str *rest, struct json_view *out)
{
    struct str start;

    skip_blanks(rest);
    start = *rest;
    if (!skip_value(rest, 0))
        return false;
    out->text = str_first(start, start.n - rest->n);
    return true;
}

static bool is_utf8(struct str text)
{
    while (text.n > 0) {
        size_t n = utf8_sequence(text);

        if (n == 0)
            return false;
        text = str_skip(text, n);
    }
    return true;
}

bool json_view(struct str text, struct json_view *out)
{
    if (!is_utf8(text) || !take_value(&text, out))
        return false;
    skip_blanks(&text);
    return text.n == 0;
}

bool json_view_is(struct json_view v, char first)
{
    return v.text.n > 0 && v.text.s[0] == first;
}

/* Returns true if the name at the front of *rest, after unescaping, is this
 * one. */
static bool take_name(struct str *rest, struct str name, bool *same)
{
    char room[128];
    struct buf b = {.data = room, .cap = sizeof(room), .max = sizeof(room) - 1};
    bool ok = take_string(rest, &b);

    *same = ok && buf_ok(&b) && str_eq(buf_str(&b), name);
    return ok;
}

bool json_view_member(struct json_view object, struct str name,
                      struct json_view *out)
{
    struct str rest = object.text;
    int found = 0;

    if (!take(&rest, '{'))
        return false;
    do {
        struct json_view value;
        bool same;

        if (!take_name(&rest, name, &same) || !take(&rest, ':') ||
            !take_value(&rest, &value))
            break;
        if (same) {
            found++;
            *out = value;
        }
    } while (take(&rest, ','));
    return found == 1;
}

bool json_view_next(struct json_view array, struct str *rest,
                    struct json_view *out)
{
    bool first = rest->s == NULL;

    if (first)
        *rest = array.text;
    return take(rest, first ? '[' : ',') && take_value(rest, out);
}

bool json_view_bool(struct json_view v, bool *out)
{
    *out = str_eq(v.text, STR("true"));
    return *out || str_eq(v.text, STR("false"));
}

bool json_view_string(struct json_view v, struct buf *out)
{
    struct str rest = v.text;

    return take_string(&rest, out) && rest.n == 0;
}
