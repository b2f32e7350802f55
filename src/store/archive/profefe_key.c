#include "store/archive/profefe_key.h"

#include "base/clock.h"
#include "base/vec.h"

#define MARK "P0."

static const struct {
    struct str number, type;
} types[] = {
    {STR("1"), STR("cpu")},       {STR("2"), STR("heap")},
    {STR("3"), STR("block")},     {STR("4"), STR("mutex")},
    {STR("5"), STR("goroutine")}, {STR("6"), STR("threadcreate")},
    {STR("127"), STR("other")},   {STR("128"), STR("trace")},
};

static bool parse_type(struct str number, struct str *out)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (str_eq(number, types[i].number)) {
            *out = types[i].type;
            return true;
        }
    return false;
}

/* What follows "P0." at the beginning of a part of the path. */
static bool skip_to_mark(struct str *key)
{
    ptrdiff_t slash;

    while (!str_has_prefix(*key, STR(MARK))) {
        slash = str_find_char(*key, '/');
        if (slash < 0)
            return false;
        *key = str_skip(*key, (size_t)slash + 1);
    }
    *key = str_skip(*key, sizeof(MARK) - 1);
    return true;
}

/* A piece without '=' belongs to the value before it, which had a comma. */
static bool parse_labels(struct arena *a, struct str text,
                         struct store_put *out)
{
    VEC(struct store_label) labels = {0};
    struct str one;

    while (str_split(&text, ',', &one)) {
        ptrdiff_t equals = str_find_char(one, '=');
        struct store_label *last = labels.n ? &labels.v[labels.n - 1] : NULL;

        if (equals > 0)
            *vec_push(a, &labels) =
                (struct store_label){str_first(one, (size_t)equals),
                                     str_skip(one, (size_t)equals + 1)};
        else if (last)
            last->value =
                str_from(arena_printf(a, "%" STR_FMT ",%" STR_FMT,
                                      STR_ARG(last->value), STR_ARG(one)));
        else
            return false;
    }
    out->labels = labels.v;
    out->n_labels = labels.n;
    return true;
}

static int64_t seconds_of(const struct store_id *id)
{
    int64_t seconds = 0;

    for (int i = 0; i < 4; i++)
        seconds = seconds << 8 | id->bytes[i];
    return seconds;
}

bool profefe_key_parse(struct arena *a, struct str key, struct store_put *out,
                       struct store_id *id)
{
    struct str service, number, xid;

    key = arena_str(a, key);
    *out = (struct store_put){.id = id, .allow_empty = true};
    if (!skip_to_mark(&key) || !str_split(&key, '/', &service) ||
        !str_split(&key, '/', &number) || !str_split(&key, ',', &xid) ||
        service.n == 0 || !parse_type(number, &out->type) ||
        !store_id_parse(xid, id) || !parse_labels(a, key, out))
        return false;
    out->service = service;
    out->created_at_ns = seconds_of(id) * SECOND;
    out->is_opaque = str_eq(out->type, STR("trace"));
    return true;
}
