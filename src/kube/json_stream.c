/*
 * Two parts: capture() follows one value to its end by counting brackets
 * outside of strings, and step() knows the frame around values: nothing for a
 * watch, `{"key": value, "items": [value, …]}` for a list.
 */
#include "kube/json_stream.h"

#include <string.h>

enum place {
    OUTSIDE,    /* before or between objects */
    BEFORE_KEY, /* of a list's member */
    IN_KEY,     /* inside its quotes */
    BEFORE_COLON,
    BEFORE_VALUE,
    AFTER_VALUE, /* a comma or the closing brace follows */
    BEFORE_ITEM, /* after the bracket of "items" or a comma */
    AFTER_ITEM,
    DONE, /* the list is closed */
};

void json_stream_init(struct json_stream *s, bool is_list,
                      size_t max_value_bytes, json_stream_take *take, void *arg)
{
    *s = (struct json_stream){
        .is_list = is_list,
        .take = take,
        .arg = arg,
        .value = BUF_INIT(max_value_bytes),
    };
}

void json_stream_release(struct json_stream *s)
{
    buf_release(&s->value);
}

bool json_stream_is_complete(const struct json_stream *s)
{
    return !s->in_value && s->place == (s->is_list ? DONE : OUTSIDE);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Bytes up to and including the end of the string that is open, or all. */
static size_t string_bytes(struct json_stream *s, struct str in)
{
    for (size_t i = 0; i < in.n; i++) {
        if (s->is_escaped)
            s->is_escaped = false;
        else if (in.s[i] == '\\')
            s->is_escaped = true;
        else if (in.s[i] == '"') {
            s->in_string = false;
            return i + 1;
        }
    }
    return in.n;
}

/* One character outside of strings; true: the value ends with it. */
static bool count_bracket(struct json_stream *s, char c)
{
    if (c == '"')
        s->in_string = true;
    else if (c == '{' || c == '[')
        s->depth++;
    else if (c == '}' || c == ']')
        return s->depth > 0 && --s->depth == 0;
    return false;
}

/* Bytes of `in` that belong to the value; *ended when it is complete. */
static size_t capture(struct json_stream *s, struct str in, bool *ended)
{
    size_t i = 0;

    *ended = false;
    while (i < in.n && !*ended) {
        if (s->in_string) {
            i += string_bytes(s, str_skip(in, i));
            *ended = !s->in_string && s->depth == 0;
        } else if (s->depth == 0 && s->is_scalar) {
            if (is_blank(in.s[i]) || strchr(",]}", in.s[i]))
                *ended = true;
            else
                i++;
        } else {
            *ended = count_bracket(s, in.s[i++]);
        }
    }
    return i;
}

static bool begin_value(struct json_stream *s, char first)
{
    if (strchr(",:]}", first))
        return false;
    s->in_value = true;
    s->depth = 0;
    s->in_string = s->is_escaped = false;
    s->is_scalar = first != '{' && first != '[' && first != '"';
    buf_clear(&s->value);
    return true;
}

static bool end_value(struct json_stream *s, struct error *err)
{
    struct str key = str_of(s->key, s->key_len);

    s->in_value = false;
    if (s->place == BEFORE_ITEM)
        s->place = AFTER_ITEM;
    else if (s->place == BEFORE_VALUE)
        s->place = AFTER_VALUE;
    return s->take(s->arg, s->is_list ? key : STR(""), buf_str(&s->value), err);
}

static bool follow_value(struct json_stream *s, struct str *in,
                         struct error *err)
{
    bool ended;
    size_t n = capture(s, *in, &ended);

    buf_add_bytes(&s->value, in->s, n);
    if (!buf_ok(&s->value))
        return error_set(err, "an object is larger than %zu bytes",
                         s->value.max);
    *in = str_skip(*in, n);
    return !ended || end_value(s, err);
}

static void key_byte(struct json_stream *s, char c)
{
    if (c == '"')
        s->place = BEFORE_COLON;
    else if (s->key_len < sizeof(s->key))
        s->key[s->key_len++] = c;
}

/* A value of a list's member begins; that of "items" is entered instead. */
static bool member_value(struct json_stream *s, struct str *in)
{
    bool is_items = str_eq(str_of(s->key, s->key_len), STR("items"));

    s->has_items = s->has_items || is_items;
    if (is_items && in->s[0] == '[') {
        s->place = BEFORE_ITEM;
        *in = str_skip(*in, 1);
        return true;
    }
    return begin_value(s, in->s[0]);
}

/* Goes on to `next` if the character is the one that has to stand here. */
static bool expect(struct json_stream *s, struct str *in, char c,
                   enum place next)
{
    if (in->s[0] != c)
        return false;
    s->place = next;
    s->key_len = next == IN_KEY ? 0 : s->key_len;
    *in = str_skip(*in, 1);
    return true;
}

/* One step between values; false: this is not a list or a sequence of
 * objects. */
static bool step(struct json_stream *s, struct str *in)
{
    switch ((enum place)s->place) {
    case OUTSIDE:
        if (s->is_list)
            return expect(s, in, '{', BEFORE_KEY);
        return in->s[0] == '{' && begin_value(s, '{');
    case BEFORE_KEY:
        return expect(s, in, '"', IN_KEY) || expect(s, in, '}', DONE);
    case IN_KEY:
        key_byte(s, in->s[0]);
        *in = str_skip(*in, 1);
        return true;
    case BEFORE_COLON:
        return expect(s, in, ':', BEFORE_VALUE);
    case BEFORE_VALUE:
        return member_value(s, in);
    case AFTER_VALUE:
        return expect(s, in, ',', BEFORE_KEY) || expect(s, in, '}', DONE);
    case BEFORE_ITEM:
        return expect(s, in, ']', AFTER_VALUE) || begin_value(s, in->s[0]);
    case AFTER_ITEM:
        return expect(s, in, ',', BEFORE_ITEM) ||
               expect(s, in, ']', AFTER_VALUE);
    case DONE:
        break;
    }
    return false;
}

bool json_stream_feed(struct json_stream *s, struct str bytes,
                      struct error *err)
{
    while (bytes.n) {
        if (s->in_value) {
            if (!follow_value(s, &bytes, err))
                return false;
        } else if (is_blank(bytes.s[0]) && s->place != IN_KEY) {
            bytes = str_skip(bytes, 1);
        } else if (!step(s, &bytes)) {
            return error_set(err, "the reply is not the JSON that Kubernetes "
                                  "sends");
        }
    }
    return true;
}
