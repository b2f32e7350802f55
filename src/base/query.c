#include "base/query.h"

#include "base/percent.h"

static bool decode(struct arena *a, struct str in, struct str *out)
{
    char *to = arena_alloc(a, in.n + 1);
    ptrdiff_t n = percent_decode(in, true, to);

    if (n < 0)
        return false;
    *out = str_of(to, (size_t)n);
    return true;
}

bool query_next(struct arena *a, struct str *rest, struct query_word *out)
{
    struct str word;

    while (str_split(rest, '&', &word)) {
        ptrdiff_t eq = str_find_char(word, '=');
        struct str name = eq < 0 ? word : str_first(word, (size_t)eq);
        struct str value = eq < 0 ? STR("") : str_skip(word, (size_t)eq + 1);

        if (word.n && str_find_char(word, ';') < 0 &&
            decode(a, name, &out->name) && decode(a, value, &out->value))
            return true;
    }
    return false;
}

void query_encode(struct buf *out, struct str text)
{
    size_t start = out->len;

    percent_encode(out, text, " ");
    for (size_t i = start; i < out->len; i++)
        if (out->data[i] == ' ')
            out->data[i] = '+';
}
