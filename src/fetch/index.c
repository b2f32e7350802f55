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

/* <tr><td>19</td><td><a href='heap?debug=1'>heap</a></td></tr> */
static bool parse_row(struct str row, struct index_entry *out)
{
    struct str rest = row, cell, attributes;
    struct index_entry e = {0};
    ptrdiff_t end;

    if (between(&rest, STR("<td>"), STR("</td>"), &cell) && is_number(cell))
        e.count = cell;
    rest = row;
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
    struct str row;

    if (!str_contains(page, STR("/debug/pprof/")))
        return false;
    while (between(&page, STR("<tr>"), STR("</tr>"), &row)) {
        struct index_entry e;

        if (parse_row(row, &e))
            *vec_push(a, &out->list) = e;
    }
    return out->list.n > 0;
}
