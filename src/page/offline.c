#include "page/offline.h"

#include "base/base64.h"
#include "base/gzip.h"
#include "base/html.h"
#include "page/assets.h"
#include "page/data.h"
#include "page/reply.h"

/* Left out are answers that open files, and those that are as long as the
 * profile itself. */
static const struct {
    const char *name;
    bool is_needed; /* without it there is no page */
} answers[] = {
    {"meta", true},  {"flame", true}, {"top", true},   {"graph", true},
    {"peek", false}, {"tags", false}, {"diff", false}, {"explain", false},
};

/* The largest answer, gzipped, that is put in though it is not needed. */
#define LARGEST_EXTRA ((size_t)1 << 20)

static void add_element(struct buf *out, const char *name, struct str type,
                        struct str bytes)
{
    buf_addf(out,
             "<script type=\"application/octet-stream\" "
             "data-answer=\"%s?si=",
             name);
    buf_add_html(out, type);
    buf_add(out, STR("\">"));
    base64_encode(out, bytes);
    buf_add(out, STR("</script>\n"));
}

static bool add_answer(struct page_request *q, struct str type, size_t i,
                       struct buf *out, struct error *err)
{
    struct buf made = BUF_INIT(out->max), packed = made;
    bool needed = answers[i].is_needed;
    bool ok = data_make(q, str_from(answers[i].name), &made, err) &&
              gzip_deflate(buf_str(&made), &packed, err);

    if (ok && (needed || packed.len <= LARGEST_EXTRA))
        add_element(out, answers[i].name, type, buf_str(&packed));
    buf_release(&made);
    buf_release(&packed);
    return ok || !needed;
}

struct types {
    struct str *names; /* from the arena */
    size_t n;
    size_t chosen; /* the one that is shown at first */
};

static bool find_types(struct page_request *q, struct types *out,
                       struct error *err)
{
    bool is_trusted, ok;
    struct profile *p = query_take_profile(q, &is_trusted, err);

    if (!p)
        return false;
    ok = report_sample_index(p, q->config.sample_index, &out->chosen, err);
    out->n = p->types.n;
    out->names = arena_new_array(q->arena, struct str, p->types.n);
    for (size_t i = 0; i < p->types.n; i++)
        out->names[i] = arena_str(q->arena, profile_str(p, p->types.v[i].type));
    profile_free(p);
    return ok;
}

/* The answers of one type; the request's own choice of a type is put aside. */
static bool add_type(struct page_request *q, struct str type, struct buf *out,
                     struct error *err)
{
    struct page_request of_type = *q;

    of_type.words.v = NULL;
    of_type.words.n = of_type.words.cap = 0;
    *vec_push(q->arena, &of_type.words) = (struct query_word){STR("si"), type};
    for (size_t i = 0; i < q->words.n; i++)
        if (!str_eq(q->words.v[i].name, STR("si")))
            *vec_push(q->arena, &of_type.words) = q->words.v[i];
    for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++)
        if (!add_answer(&of_type, type, i, out, err))
            return false;
    return true;
}

/* The type that is shown at first comes first. */
static bool add_types(struct page_request *q, struct buf *out,
                      struct error *err)
{
    struct types types;
    bool ok = query_apply(q, err) && find_types(q, &types, err) &&
              add_type(q, types.names[types.chosen], out, err);

    for (size_t i = 0; ok && i < types.n; i++)
        ok = i == types.chosen || add_type(q, types.names[i], out, err);
    return ok;
}

bool offline_write(struct page_request *q, struct buf *out, struct error *err)
{
    buf_add(out, offline_start);
    if (!add_types(q, out, err))
        return false;
    buf_add(out, offline_end);
    return buf_ok(out) ||
           error_set(err, "the page is larger than %zu bytes", out->max);
}

void offline_answer(struct page_request *q)
{
    struct error err;

    if (!offline_write(q, &q->x->body, &err)) {
        reply_failure(q, &err);
        return;
    }
    http_exchange_header(q->x, "Content-Disposition",
                         STR("attachment; filename=\"profile.html\""));
    http_exchange_header(q->x, "Cache-Control", STR("no-store"));
    reply_bytes(q, STR("text/html; charset=utf-8"));
}
