#include "report/format/fitted_name.h"

#include "base/utf8.h"
#include "report/short_name.h"

#define LEAST_LETTERS 3 /* of a name that is cut, with the ellipsis */

/* The beginning of a text that is wider than `room`; nothing if too little
 * of it would be left to recognise it. */
static void add_cut(struct buf *out, struct str text, size_t room)
{
    size_t n = 0;

    if (room < LEAST_LETTERS)
        return;
    for (size_t count = 1; n < text.n && count < room; count++) {
        size_t step = utf8_sequence(str_skip(text, n));

        n += step > 0 ? step : 1;
    }
    buf_add(out, str_first(text, n));
    buf_add(out, STR("…"));
}

/* Control characters would leave the cell. */
static struct str printable(struct arena *a, struct str name)
{
    char *text = NULL;

    for (size_t i = 0; i < name.n; i++) {
        if ((unsigned char)name.s[i] >= ' ' && name.s[i] != 0x7f)
            continue;
        if (!text)
            text = arena_cstr(a, name);
        text[i] = '?';
    }
    return text ? str_of(text, name.n) : name;
}

/*
 * The function without where it belongs: "mallocgc" of runtime.mallocgc,
 * "push_back" of std::vector<int>::push_back(int const&).  A closure keeps
 * its function's name: "serve.func1".
 */
static struct str last_name(struct str name)
{
    size_t start = 0, before = 0, end = name.n;

    for (size_t i = 0; i < end; i++) {
        bool is_receiver = name.s[i] == '(' && i > 0 && name.s[i - 1] == '.';

        if (name.s[i] == '<' || (name.s[i] == '(' && !is_receiver && i > 0)) {
            end = i;
        } else if (name.s[i] == '.' || name.s[i] == ':' || name.s[i] == '/') {
            before = start;
            start = i + 1;
        }
    }
    if (str_has_prefix(str_skip(name, start), STR("func")) && start + 4 < end &&
        name.s[start + 4] >= '0' && name.s[start + 4] <= '9')
        start = before;
    return start < end ? str_of(name.s + start, end - start) : name;
}

void fitted_name_add(struct buf *out, struct arena *a, struct str name,
                     struct str percent, struct str amount, size_t room)
{
    size_t used;

    name = printable(a, name);
    if (utf8_count(name) + 1 + utf8_count(percent) > room)
        name = short_name(a, name);
    if (utf8_count(name) > room)
        name = last_name(name);
    used = utf8_count(name);
    if (used > room)
        add_cut(out, name, room);
    else
        buf_add(out, name);
    used += 1 + utf8_count(percent);
    if (used <= room) {
        buf_add_char(out, ' ');
        buf_add(out, percent);
    }
    used += 1 + utf8_count(amount);
    if (used <= room) {
        buf_add_char(out, ' ');
        buf_add(out, amount);
    }
}
