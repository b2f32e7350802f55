/*
 * The text is read from its end, where the words are simple: a selector may
 * have spaces in its values, a range has none.
 */
#include "collector/query/selection.h"

#include "base/clock.h"
#include "base/time_text.h"

static const struct str single_mark = STR_INIT("id:");

/* Takes the last word off the text. */
static struct str last_word(struct str *text)
{
    ptrdiff_t space = str_rfind_char(*text, ' ');
    struct str word = str_skip(*text, (size_t)(space + 1));

    *text = str_trim(str_first(*text, space < 0 ? 0 : (size_t)space));
    return word;
}

static void take_values(struct selection *s, struct str *text)
{
    struct str before = *text, word = last_word(&before);

    s->values = str_eq(word, STR("changes")) ? STORE_CHANGES : STORE_AS_SENT;
    if (s->values == STORE_CHANGES || str_eq(word, STR("sent")))
        *text = before;
}

static bool read_time(struct str text, int64_t now_ns, int64_t *out,
                      struct error *err)
{
    return time_parse(text, now_ns, out, err) ||
           error_wrap(err, "the time range");
}

/* A range has two dots; selectors that end with a name or a brace have not. */
static bool take_range(struct selection *s, struct str *text, int64_t now_ns,
                       struct error *err)
{
    struct str before = *text, word = last_word(&before);
    ptrdiff_t dots = str_find(word, STR(".."));

    s->from_ns = now_ns - HOUR;
    s->to_ns = now_ns;
    if (dots < 0 || str_has_suffix(word, STR("}")))
        return true;
    *text = before;
    if (!read_time(str_first(word, (size_t)dots), now_ns, &s->from_ns, err) ||
        !read_time(str_skip(word, (size_t)dots + 2), now_ns, &s->to_ns, err))
        return false;
    return s->from_ns <= s->to_ns ||
           error_set(err, "the time range ends before it starts");
}

bool selection_parse(struct selection *out, struct arena *a, struct str text,
                     int64_t now_ns, struct error *err)
{
    *out = (struct selection){0};
    text = str_trim(text);
    if (str_has_prefix(text, single_mark)) {
        out->is_single = true;
        return store_id_parse(str_skip(text, single_mark.n), &out->id) ||
               error_set(err, "\"%" STR_FMT "\" is not the id of a profile",
                         STR_ARG(str_skip(text, single_mark.n)));
    }
    take_values(out, &text);
    return take_range(out, &text, now_ns, err) &&
           selector_parse(&out->selector, a, text, err);
}

void selection_release(struct selection *s)
{
    selector_release(&s->selector);
}

void selection_format(const struct selection *s, struct arena *a,
                      struct buf *out)
{
    if (s->is_single) {
        char id[STORE_ID_TEXT + 1];

        store_id_format(&s->id, id);
        buf_add(out, single_mark);
        buf_add(out, str_from(id));
        return;
    }
    selector_format(&s->selector, a, out);
    buf_add_char(out, ' ');
    time_add_rfc3339_nanos(out, s->from_ns);
    buf_add(out, STR(".."));
    time_add_rfc3339_nanos(out, s->to_ns);
    if (s->values == STORE_CHANGES)
        buf_add(out, STR(" changes"));
}

static void add_part(struct buf *out, struct str part)
{
    if (part.n == 0)
        return;
    if (out->len > 0)
        buf_add_char(out, '.');
    buf_add(out, part);
}

struct str selection_name(const struct selection *s, struct arena *a)
{
    struct buf out = arena_buf(a);
    char id[STORE_ID_TEXT + 1];

    if (s->is_single) {
        store_id_format(&s->id, id);
        add_part(&out, str_from(id));
        return buf_str(&out);
    }
    add_part(&out, selector_service(&s->selector));
    add_part(&out, selector_type(&s->selector));
    for (size_t i = 0; i < s->selector.n; i++)
        if (s->selector.matchers[i].field == STORE_LABEL &&
            s->selector.matchers[i].op == STORE_EQUAL)
            add_part(&out, s->selector.matchers[i].value);
    return out.len > 0 ? buf_str(&out) : STR("profiles");
}
