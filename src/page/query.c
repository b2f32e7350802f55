#include "base/percent.h"
#include "page/request.h"

static bool decode(struct arena *a, struct str in, struct str *out)
{
    char *text = arena_alloc(a, in.n + 1);
    ptrdiff_t n = percent_decode(in, true, text);

    if (n < 0)
        return false;
    *out = str_of(text, (size_t)n);
    return true;
}

void query_parse(struct page_request *q, struct str query)
{
    struct str pair;

    while (str_split(&query, '&', &pair)) {
        ptrdiff_t equals = str_find_char(pair, '=');
        size_t n = equals < 0 ? pair.n : (size_t)equals;
        struct str rest = equals < 0 ? STR("") : str_skip(pair, n + 1);
        struct query_word word;

        if (pair.n == 0 || str_find_char(pair, ';') >= 0 ||
            !decode(q->arena, str_first(pair, n), &word.name) ||
            !decode(q->arena, rest, &word.value))
            continue;
        *vec_push(q->arena, &q->words) = word;
    }
}

struct str query_get(const struct page_request *q, const char *name)
{
    for (size_t i = 0; i < q->words.n; i++)
        if (str_eq(q->words.v[i].name, str_from(name)))
            return q->words.v[i].value;
    return STR("");
}

bool query_apply(struct page_request *q, struct error *err)
{
    q->config = *q->page->options.config;
    for (size_t i = 0; i < config_n_fields; i++) {
        const char *param = config_fields[i].param;

        if (param && !config_set_param(&q->config, q->arena, str_from(param),
                                       query_get(q, param), err))
            return false;
    }
    return true;
}
