/*
 * google/pprof shortens names with regular expressions, one each for Go, Java
 * and C++.  Here they are small matchers by hand, with the same preference for
 * the longest path that leaves a readable rest.
 */
#include "report/short_name.h"

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return is_lower(c) || is_upper(c) || is_digit(c) || c == '_';
}

static size_t skip_word(struct str s, size_t at)
{
    while (at < s.n && is_word(s.s[at]))
        at++;
    return at;
}

static bool at_colons(struct str s, size_t at)
{
    return at + 1 < s.n && s.s[at] == ':' && s.s[at + 1] == ':';
}

/* s without its first "/vN" (N at least 2) before "." or "/". */
static struct str without_version(struct arena *a, struct str s)
{
    if (str_find_char(s, '\n') >= 0)
        return s;
    for (size_t i = 0; i + 2 < s.n; i++) {
        size_t digits = i + 2, end = digits;
        char *joined;

        if (s.s[i] != '/' || s.s[i + 1] != 'v')
            continue;
        while (end < s.n && is_digit(s.s[end]))
            end++;
        if (end == digits || end == s.n || s.s[digits] == '0' ||
            (end == digits + 1 && s.s[digits] == '1') ||
            (s.s[end] != '.' && s.s[end] != '/'))
            continue;
        joined = arena_alloc(a, s.n);
        memcpy(joined, s.s, i);
        memcpy(joined + i, s.s + end, s.n - end);
        return str_of(joined, i + s.n - end);
    }
    return s;
}

/* "pkg.rest": something before the first dot and after it. */
static bool is_qualified(struct str s)
{
    ptrdiff_t dot = str_find_char(s, '.');

    return dot > 0 && (size_t)dot + 1 < s.n && s.s[dot + 1] != '\n';
}

static struct str first_line(struct str s)
{
    ptrdiff_t end = str_find_char(s, '\n');

    return end < 0 ? s : str_first(s, (size_t)end);
}

/* After the longest path of plain elements that leaves "pkg.rest". */
static bool shorten_go(struct str s, struct str *out)
{
    bool found = false;
    size_t start = 0;

    for (size_t i = 0; i < s.n; i++) {
        if (s.s[i] == '/' && i > start) {
            start = i + 1;
            if (is_qualified(str_skip(s, start))) {
                *out = str_skip(s, start);
                found = true;
            }
        } else if (!is_word(s.s[i]) && s.s[i] != '-' && s.s[i] != '.') {
            break;
        }
    }
    if (found) /* the first dot may come after a newline, the rest may not */
        out->n = (size_t)str_find_char(*out, '.') +
                 first_line(str_skip(*out, (size_t)str_find_char(*out, '.'))).n;
    return found;
}

static size_t skip_java_word(struct str s, size_t at)
{
    while (at < s.n && (is_word(s.s[at]) || s.s[at] == '$'))
        at++;
    return at;
}

/* "Class.method" or "Class.<init>" after lower-case packages, up to "(" or
 * the end. */
static bool shorten_java(struct str s, struct str *out)
{
    const struct str init = STR("<init>");
    size_t start = 0, at;

    for (;;) {
        at = skip_word(s, start);
        if (start >= s.n || !is_lower(s.s[start]) || at >= s.n ||
            s.s[at] != '.')
            break;
        start = at + 1;
    }
    if (start >= s.n || !is_upper(s.s[start]))
        return false;
    at = skip_java_word(s, start);
    if (at >= s.n || s.s[at] != '.')
        return false;
    at++;
    if (str_has_prefix(str_skip(s, at), init))
        at += init.n;
    else if (at < s.n && is_lower(s.s[at]))
        at = skip_java_word(s, at);
    else
        return false;
    if (at < s.n && s.s[at] != '(')
        return false;
    *out = str_of(s.s + start, at - start);
    return true;
}

/* The length of "Class::method<…>" at the start of s, or 0.  The class
 * starts with an upper-case letter, after underscores. */
static size_t cpp_method(struct str s)
{
    size_t at = 0;
    struct str line;
    ptrdiff_t close;

    while (at < s.n && s.s[at] == '_')
        at++;
    if (at >= s.n || !is_upper(s.s[at]))
        return 0;
    at = skip_word(s, at);
    if (!at_colons(s, at))
        return 0;
    at += 2;
    if (at < s.n && s.s[at] == '~')
        at++;
    if (at >= s.n || !is_word(s.s[at]) || is_digit(s.s[at]))
        return 0;
    at = skip_word(s, at);
    line = first_line(str_skip(s, at));
    close = str_rfind_char(line, '>');
    if (str_has_prefix(line, STR("<")) && close > 0)
        at += (size_t)close + 1;
    return at;
}

/* After the most namespaces that leave "Class::method". */
static bool shorten_cpp(struct str s, struct str *out)
{
    bool found = false;
    size_t at = 0;

    while (at < s.n && is_word(s.s[at]) && !is_digit(s.s[at])) {
        size_t n;

        at = skip_word(s, at);
        if (!at_colons(s, at))
            break;
        at += 2;
        n = cpp_method(str_skip(s, at));
        if (n == 0)
            continue;
        *out = str_of(s.s + at, n);
        found = true;
    }
    return found;
}

struct str short_name(struct arena *a, struct str name)
{
    const struct str anonymous = STR("(anonymous namespace)::");
    struct str out;

    if (str_has_prefix(name, anonymous))
        name = str_skip(name, anonymous.n);
    name = without_version(a, name);
    if (shorten_go(name, &out) || shorten_java(name, &out) ||
        shorten_cpp(name, &out))
        return out;
    return name;
}
