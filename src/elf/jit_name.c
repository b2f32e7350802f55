#include "elf/jit_name.h"

/* Takes ":NUMBER" off the end. */
static bool take_number(struct str *s, uint64_t *out)
{
    ptrdiff_t colon = str_rfind_char(*s, ':');

    if (colon <= 0 || !str_to_u64(str_skip(*s, (size_t)colon + 1), 10, out) ||
        *out > INT32_MAX)
        return false;
    s->n = (size_t)colon;
    return true;
}

/* NAME FILE:LINE:COLUMN, the name may be empty or have spaces. */
static struct jit_name parse_v8(struct str rest)
{
    struct jit_name n = {.function = rest};
    ptrdiff_t space = str_rfind_char(rest, ' ');
    struct str place = space < 0 ? rest : str_skip(rest, (size_t)space + 1);
    struct str file = place;
    uint64_t line, column;

    if (!take_number(&file, &column) || !take_number(&file, &line))
        return n;
    n.function = space > 0 ? str_first(rest, (size_t)space) : place;
    n.file = file;
    n.line = (int64_t)line;
    return n;
}

/* NAME:FILE */
static struct jit_name parse_python(struct str rest)
{
    ptrdiff_t colon = str_find_char(rest, ':');

    if (colon <= 0)
        return (struct jit_name){.function = rest};
    return (struct jit_name){.function = str_first(rest, (size_t)colon),
                             .file = str_skip(rest, (size_t)colon + 1)};
}

struct jit_name jit_name_parse(struct str text)
{
    static const char *const kinds[] = {
        "JS:", "LazyCompile:", "Function:", "Eval:", "Script:"};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct str kind = str_from(kinds[i]);

        if (!str_has_prefix(text, kind) || text.n == kind.n)
            continue;
        text = str_skip(text, kind.n);
        if (text.n > 1 && str_find_char(STR("*~^+"), text.s[0]) >= 0)
            text = str_skip(text, 1);
        return parse_v8(text);
    }
    if (str_has_prefix(text, STR("py::")) && text.n > 4)
        return parse_python(str_skip(text, 4));
    return (struct jit_name){.function = text};
}
