#include "profile/same_types.h"

#include "base/buf.h"

static void add_types(struct buf *out, const struct profile *p)
{
    buf_add_char(out, '[');
    for (size_t i = 0; i < p->types.n; i++) {
        struct type_text t = type_text_of(p, p->types.v[i]);

        buf_addf(out, "%s%" STR_FMT "/%" STR_FMT, i ? " " : "", TYPE_ARG(t));
    }
    buf_add_char(out, ']');
}

static bool different_types(const struct profile *a, const struct profile *b,
                            struct error *err)
{
    struct buf text = BUF_INIT(sizeof(err->text));

    add_types(&text, a);
    buf_add(&text, STR(" and "));
    add_types(&text, b);
    error_set(err, "incompatible sample types %s", buf_cstr(&text));
    buf_release(&text);
    return false;
}

bool profile_same_types(const struct profile *a, const struct profile *b,
                        struct error *err)
{
    struct type_text x = type_text_of(a, a->period_type);
    struct type_text y = type_text_of(b, b->period_type);

    if (!type_text_same(x, y))
        return error_set(
            err, "incompatible period types &" TYPE_FMT " and &" TYPE_FMT,
            TYPE_ARG(x), TYPE_ARG(y));
    if (a->types.n != b->types.n)
        return different_types(a, b, err);
    for (size_t i = 0; i < a->types.n; i++)
        if (!type_text_same(type_text_of(a, a->types.v[i]),
                            type_text_of(b, b->types.v[i])))
            return different_types(a, b, err);
    return true;
}
