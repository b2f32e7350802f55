/*
 * The words of a request's query: options of the report, and which profiles
 * it is about.
 */
#include "page/request.h"

#include <assert.h>
#include <string.h>

#include "profile/diff.h"

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

/* The words that leave samples or frames out, rather than show them in
 * another way. */
static bool is_filter(const char *param)
{
    static const char *const filters[] = {"f",         "i",  "h",  "s",  "sf",
                                          "prunefrom", "tf", "ti", "ts", "th"};

    for (size_t i = 0; i < sizeof(filters) / sizeof(*filters); i++)
        if (strcmp(param, filters[i]) == 0)
            return true;
    return false;
}

/* One more config for each further value of a filter's word. */
static bool apply_repeated(struct page_request *q, const char *param,
                           struct error *err)
{
    bool is_first = true;

    for (size_t i = 0; i < q->words.n; i++) {
        struct report_config *more;

        if (!str_eq(q->words.v[i].name, str_from(param)))
            continue;
        if (is_first) {
            is_first = false;
            continue;
        }
        more = vec_push(q->arena, &q->also);
        config_init(more);
        if (!config_set_param(more, q->arena, str_from(param),
                              q->words.v[i].value, err))
            return false;
    }
    return true;
}

bool query_apply(struct page_request *q, struct error *err)
{
    q->config = *q->page->options.config;
    q->also.n = 0;
    for (size_t i = 0; i < config_n_fields; i++) {
        const char *param = config_fields[i].param;

        if (param && !config_set_param(&q->config, q->arena, str_from(param),
                                       query_get(q, param), err))
            return false;
        if (param && is_filter(param) && !apply_repeated(q, param, err))
            return false;
    }
    return true;
}

/* A selection by its word, or by the name that the word had before. */
static struct str selection_of(const struct page_request *q, const char *word,
                               const char *older)
{
    struct str selection = query_get(q, word);

    return selection.n > 0 ? selection : query_get(q, older);
}

static bool is_selection(struct str word)
{
    return str_eq(word, STR("a")) || str_eq(word, STR("b")) ||
           str_eq(word, STR("profile")) || str_eq(word, STR("base"));
}

static bool resolve(struct page_request *q, struct str selection,
                    struct page_content *out, struct error *err)
{
    const struct page_source *s = &q->page->source;

    if (selection.n > PAGE_SELECTION_MAX)
        return error_set(err, "a selection has more than %d bytes",
                         PAGE_SELECTION_MAX);
    return s->resolve(s->arg, q->arena, q->x, selection, out, err);
}

bool query_resolve(struct page_request *q, struct error *err)
{
    struct str base = selection_of(q, "b", "base");

    if (q->is_resolved)
        return true;
    q->is_compared = base.n > 0;
    q->is_resolved = resolve(q, selection_of(q, "a", "profile"), &q->a, err) &&
                     (!q->is_compared || resolve(q, base, &q->b, err));
    return q->is_resolved;
}

struct str query_version(struct page_request *q)
{
    struct buf text = arena_buf(q->arena);
    struct error ignored;
    struct str version;

    if (!query_resolve(q, &ignored))
        return STR("");
    for (size_t i = 0; i < q->words.n; i++) {
        if (is_selection(q->words.v[i].name))
            continue;
        query_encode(&text, q->words.v[i].name);
        buf_add_char(&text, '=');
        query_encode(&text, q->words.v[i].value);
        buf_add_char(&text, '&');
    }
    buf_add(&text, STR("a="));
    query_encode(&text, q->a.id);
    if (q->is_compared) {
        buf_add(&text, STR("&b="));
        query_encode(&text, q->b.id);
    }
    version = arena_str(q->arena, buf_str(&text));
    buf_release(&text);
    return version;
}

static bool take(const struct page_request *q,
                 const struct page_content *content, struct page_taken *out,
                 struct error *err)
{
    const struct page_source *s = &q->page->source;
    bool ok = s->take(s->arg, q->arena, q->x, content,
                      (struct page_take_options){
                          .is_compared = q->is_compared,
                          .normalize = q->config.normalize,
                      },
                      out, err);

    assert(!ok || out->profile);
    return ok;
}

/* Subtracts b= from what a= gave; uses up out->profile. */
static bool subtract(const struct page_request *q, struct query_profile *out,
                     struct error *err)
{
    struct page_taken base;
    struct diff_options how = {.mark = true, .normalize = q->config.normalize};

    if (!take(q, &q->b, &base, err)) {
        profile_free(out->profile);
        return false;
    }
    out->base = base.side;
    out->is_trusted &= q->b.is_trusted;
    out->profile = profile_diff(out->profile, base.profile, how, err);
    return out->profile != NULL;
}

bool query_take(struct page_request *q, struct query_profile *out,
                struct error *err)
{
    struct page_taken taken;

    if (!query_resolve(q, err) || !take(q, &q->a, &taken, err))
        return false;
    q->file_name = taken.side.name;
    *out = (struct query_profile){.profile = taken.profile,
                                  .is_trusted = q->a.is_trusted,
                                  .side = taken.side,
                                  .base = taken.base};
    return !q->is_compared || subtract(q, out, err);
}

bool query_has_base(const struct page_request *q)
{
    assert(q->is_resolved);
    return q->is_compared || q->a.has_base;
}
