/*
 * Runs of plain characters are copied as they are; what needs an escape is
 * found byte by byte.  base/json.h writes the shorter standard forms and is
 * used wherever bytes need not be equal.
 */
#include "collector/go_json.h"

#include "base/utf8.h"

static const char *short_escape(char c)
{
    switch (c) {
    case '"':
        return "\\\"";
    case '\\':
        return "\\\\";
    case '\b':
        return "\\b";
    case '\f':
        return "\\f";
    case '\n':
        return "\\n";
    case '\r':
        return "\\r";
    case '\t':
        return "\\t";
    default:
        return NULL;
    }
}

/* U+2028 and U+2029 end lines in JavaScript. */
static bool is_line_separator(struct str s)
{
    return s.n >= 3 && memcmp(s.s, "\xe2\x80", 2) == 0 &&
           ((unsigned char)s.s[2] == 0xa8 || (unsigned char)s.s[2] == 0xa9);
}

/* The length of what can be copied at the start of s. */
static size_t plain_length(struct str s)
{
    size_t i = 0;

    while (i < s.n) {
        unsigned char c = (unsigned char)s.s[i];
        size_t n = c < 0x80 ? 1 : utf8_sequence(str_skip(s, i));

        if (n == 0 || c < ' ' || c == '"' || c == '\\' || c == '<' ||
            c == '>' || c == '&' || is_line_separator(str_skip(s, i)))
            break;
        i += n;
    }
    return i;
}

void go_json_string(struct buf *out, struct str text)
{
    buf_add_char(out, '"');
    while (text.n > 0) {
        size_t n = plain_length(text);
        const char *escape;

        if (n > 0)
            buf_add_bytes(out, text.s, n);
        text = str_skip(text, n);
        if (text.n == 0)
            break;
        escape = short_escape(text.s[0]);
        n = 1;
        if (escape) {
            buf_add(out, str_from(escape));
        } else if (is_line_separator(text)) {
            buf_addf(out, "\\u202%c",
                     (unsigned char)text.s[2] == 0xa8 ? '8' : '9');
            n = 3;
        } else if ((unsigned char)text.s[0] >= 0x80) {
            buf_add(out, STR("\\ufffd"));
        } else {
            buf_addf(out, "\\u%04x", text.s[0]);
        }
        text = str_skip(text, n);
    }
    buf_add_char(out, '"');
}
