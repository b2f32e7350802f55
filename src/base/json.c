/*
 * Writes JSON straight into a buf.  Whether a comma is needed is the only
 * state; indentation is optional and for people.
 */
#include "base/json.h"

#include <inttypes.h>
#include <math.h>

#include "base/goformat.h"
#include "base/number.h"
#include "base/utf8.h"

static void add_escaped(struct buf *b, unsigned char c)
{
    static const char letters[] = "btn\0fr"; /* from \b, 0x08, on */

    if (c == '"' || c == '\\') {
        buf_add_char(b, '\\');
        buf_add_char(b, (char)c);
    } else if (c >= '\b' && c <= '\r' && letters[c - '\b'] != '\0') {
        buf_add_char(b, '\\');
        buf_add_char(b, letters[c - '\b']);
    } else {
        buf_addf(b, "\\u%04x", c);
    }
}

void buf_add_json(struct buf *b, struct str s)
{
    size_t start = 0, i = 0;

    buf_add_char(b, '"');
    while (i < s.n) {
        unsigned char c = (unsigned char)s.s[i];
        size_t n = c < 0x80 ? 1 : utf8_sequence(str_skip(s, i));

        if (n > 0 && c >= ' ' && c != '"' && c != '\\' && c != 0x7f) {
            i += n;
            continue;
        }
        buf_add_bytes(b, s.s + start, i - start);
        if (n == 0)
            buf_add(b, STR("\xef\xbf\xbd"));
        else
            add_escaped(b, c);
        start = ++i;
    }
    if (i > start) /* an empty text may have no bytes to point at */
        buf_add_bytes(b, s.s + start, i - start);
    buf_add_char(b, '"');
}

struct json json_start(struct buf *out, int indent)
{
    return (struct json){.out = out, .indent = indent, .first = true};
}

static void add_line_break(struct json *j)
{
    if (j->indent == 0)
        return;
    buf_add_char(j->out, '\n');
    buf_add_pad(j->out, ' ', (size_t)j->indent * (size_t)j->depth);
}

/* What must stand between the last thing and the next. */
static void begin(struct json *j)
{
    if (j->after_key) {
        j->after_key = false;
        return;
    }
    if (!j->first)
        buf_add_char(j->out, ',');
    if (j->depth > 0)
        add_line_break(j);
    j->first = false;
}

void json_open(struct json *j, char bracket)
{
    begin(j);
    buf_add_char(j->out, bracket);
    j->depth++;
    j->first = true;
}

void json_close(struct json *j, char bracket)
{
    j->depth--;
    if (!j->first)
        add_line_break(j);
    buf_add_char(j->out, bracket);
    j->first = false;
}

void json_key(struct json *j, struct str key)
{
    begin(j);
    buf_add_json(j->out, key);
    buf_add(j->out, j->indent ? STR(": ") : STR(":"));
    j->after_key = true;
}

void json_string(struct json *j, struct str s)
{
    begin(j);
    buf_add_json(j->out, s);
}

void json_i64(struct json *j, int64_t value)
{
    begin(j);
    buf_add_i64(j->out, value);
}

void json_thousandths(struct json *j, int64_t value)
{
    uint64_t size = value < 0 ? -(uint64_t)value : (uint64_t)value;

    begin(j);
    buf_addf(j->out, "%s%" PRIu64 ".%03" PRIu64, value < 0 ? "-" : "",
             size / 1000, size % 1000);
}

void json_double(struct json *j, double value)
{
    begin(j);
    if (isfinite(value))
        goformat_float(j->out, value);
    else
        buf_add(j->out, STR("null"));
}

void json_bool(struct json *j, bool value)
{
    begin(j);
    buf_add(j->out, value ? STR("true") : STR("false"));
}

void json_null(struct json *j)
{
    begin(j);
    buf_add(j->out, STR("null"));
}
