/*
 * The index page has no machine-readable form.  Rows of its table are
 * recognised by the link to a profile in them, as Go's page and ours have it.
 */
#include "fetch/index.h"

#include <ctype.h>

/* The text between two words behind the start of *rest, which is moved
 * behind the second. */
static bool between(struct str *rest, struct str open, struct str close,
                    struct str *out)
{
    ptrdiff_t from = str_find(*rest, open), to;
    struct str inside;

    if (from < 0)
        return false;
    inside = str_skip(*rest, (size_t)from + open.n);
    to = str_find(inside, close);
    if (to < 0)
        return false;
    *out = str_first(inside, (size_t)to);
    *rest = str_skip(inside, (size_t)to + close.n);
    return true;
}

static bool is_number(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!isdigit((unsigned char)s.s[i]))
            return false;
    return s.n > 0;
}

/* The text of the first cell, if that is a number. */
static struct str count_of(struct str row)
{
    struct str tag, cell;

    if (between(&row, STR("<td"), STR(">"), &tag)) {
        ptrdiff_t end = str_find_char(row, '<');

        cell = str_trim(str_first(row, end < 0 ? row.n : (size_t)end));
        if (is_number(cell))
            return cell;
    }
    return STR("");
}

/* <tr><td>19</td><td><a href='heap?debug=1'>heap</a></td></tr>, and before Go
 * 1.11 <tr><td align=right>19<td><a href="heap?debug=1">heap</a> */
static bool parse_row(struct str row, struct index_entry *out)
{
    struct str rest = row, attributes;
    struct index_entry e = {.count = count_of(row)};
    ptrdiff_t end;

    if (!between(&rest, STR("<a "), STR(">"), &attributes) ||
        !str_contains(attributes, STR("?debug=")))
        return false;
    end = str_find(rest, STR("</a>"));
    e.name = str_first(rest, end < 0 ? 0 : (size_t)end);
    *out = e;
    return e.name.n > 0;
}

bool index_parse(struct arena *a, struct str page, struct index_entries *out)
{
    static const struct str start = STR_INIT("<tr>");
    ptrdiff_t at;

    if (!str_contains(page, STR("/debug/pprof/")))
        return false;
    while ((at = str_find(page, start)) >= 0) {
        struct index_entry e;
        ptrdiff_t next;

        page = str_skip(page, (size_t)at + start.n);
        next = str_find(page, start);
        if (parse_row(str_first(page, next < 0 ? page.n : (size_t)next), &e))
            *vec_push(a, &out->list) = e;
    }
    return out->list.n > 0;
}
