/*
 * Names of frames, and the package that a name belongs to.  The package decides
 * the colour of a box, so the rule must work for Go paths, C++ namespaces and
 * Rust crates without knowing which language it looks at.
 */
#include "page/frame_name.h"

struct str frame_full_name(struct arena *a, const struct frame *f)
{
    struct str name = f->name.n > 0 ? f->name : f->file;

    if (f->line == 0)
        return name;
    if (f->column == 0)
        return str_from(arena_printf(a, "%" STR_FMT ":%lld", STR_ARG(name),
                                     (long long)f->line));
    return str_from(arena_printf(a, "%" STR_FMT ":%lld:%lld", STR_ARG(name),
                                 (long long)f->line, (long long)f->column));
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_';
}

struct str frame_package(struct str name)
{
    size_t start = (size_t)(str_rfind_char(name, '/') + 1), end = start;
    struct str rest;

    while (end < name.n && is_word(name.s[end]))
        end++;
    rest = str_skip(name, end);
    if (end == start ||
        !(str_has_prefix(rest, STR(".")) || str_has_prefix(rest, STR("::"))))
        return STR("");
    return str_first(name, end);
}
