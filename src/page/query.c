#include "page/request.h"

void query_parse(struct page_request *q, struct str query)
{
    struct query_word word;

    while (query_next(q->arena, &query, &word))
        *vec_push(q->arena, &q->words) = word;
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

static struct profile_choice choice_of(const struct page_request *q)
{
    return (struct profile_choice){.profile = query_get(q, "profile"),
                                   .base = query_get(q, "base"),
                                   .normalize = q->config.normalize};
}

struct profile *query_take_profile(const struct page_request *q,
                                   bool *is_trusted, struct error *err)
{
    struct profile_choice choice = choice_of(q);

    return profiles_take(&q->page->profiles, &choice, is_trusted, err);
}

bool query_has_base(const struct page_request *q)
{
    struct profile_choice choice = choice_of(q);

    return profiles_have_base(&q->page->profiles, &choice);
}
