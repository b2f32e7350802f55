/*
 * A name is the longest run of letters, digits and underscores: $1x is the
 * group called "1x", which nobody has, and so "".  A $ that starts neither is
 * a $.
 */
#include "collector/scrape/relabel_expand.h"

#include <ctype.h>

#define MAX_GROUPS 32 /* that a template can name by number */

static size_t name_length(struct str s)
{
    size_t n = 0;

    while (n < s.n && (isalnum((unsigned char)s.s[n]) || s.s[n] == '_'))
        n++;
    return n;
}

/* Takes "1", "{1}" or "{name}" off the front of *rest, which is behind a $. */
static bool take_name(struct str *rest, struct str *name)
{
    bool braces = rest->n > 0 && rest->s[0] == '{';
    struct str inside = braces ? str_skip(*rest, 1) : *rest;
    size_t n = name_length(inside);

    if (n == 0 || (braces && (n == inside.n || inside.s[n] != '}')))
        return false;
    *name = str_first(inside, n);
    *rest = str_skip(inside, n + braces);
    return true;
}

static struct str group_of(const struct regex *re, const struct str *groups,
                           struct str name)
{
    uint64_t number;

    if (!str_to_u64(name, 10, &number)) {
        number = regex_group_named(re, name);
        if (number == 0)
            return STR("");
    }
    return number < MAX_GROUPS ? groups[number] : STR("");
}

bool relabel_expand(const struct regex *re, struct str template,
                    struct str text, struct arena *a, struct str *out)
{
    struct str groups[MAX_GROUPS], rest = template, name;
    struct buf result = arena_buf(a);

    if (!regex_match_whole(re, text, groups, MAX_GROUPS))
        return false;
    while (rest.n > 0) {
        ptrdiff_t dollar = str_find_char(rest, '$');

        if (dollar < 0)
            break;
        buf_add(&result, str_first(rest, (size_t)dollar));
        rest = str_skip(rest, (size_t)dollar + 1);
        if (str_has_prefix(rest, STR("$")))
            rest = str_skip(rest, 1);
        else if (take_name(&rest, &name)) {
            buf_add(&result, group_of(re, groups, name));
            continue;
        }
        buf_add_char(&result, '$');
    }
    buf_add(&result, rest);
    *out = buf_str(&result);
    return true;
}
