#include "runtime/query.h"

#include "base/percent.h"

bool query_get(struct str query, struct str key, char *out, size_t size,
               struct str *value)
{
    struct str word;

    while (str_split(&query, '&', &word)) {
        ptrdiff_t eq = str_find_char(word, '=');
        ptrdiff_t n;

        if (!str_eq(eq < 0 ? word : str_first(word, (size_t)eq), key))
            continue;
        word = eq < 0 ? STR("") : str_skip(word, (size_t)eq + 1);
        if (word.n > size)
            return false;
        n = percent_decode(word, true, out);
        if (n < 0)
            continue;
        *value = str_of(out, (size_t)n);
        return n > 0;
    }
    return false;
}

int64_t query_debug(struct str query)
{
    char text[32];
    struct str value;
    int64_t debug;

    if (!query_get(query, STR("debug"), text, sizeof(text), &value) ||
        !str_to_i64(value, 10, &debug))
        return 0;
    return debug;
}

uint64_t query_number(struct str query, struct str key, uint64_t max)
{
    char text[32];
    struct str value;
    uint64_t n;

    if (!query_get(query, key, text, sizeof(text), &value) ||
        !str_to_u64(value, 10, &n))
        return 0;
    return n < max ? n : max;
}

bool query_flag(struct str query, struct str key)
{
    return query_number(query, key, 1) != 0;
}
