/*
 * Writes the saved page.  Its views ask for the same answers as the served one;
 * here they are made beforehand, for every sample type, and put into the file.
 * What is not needed is left out when it is large or slow to make: reports on
 * code share one time limit, because a disassembler can take minutes.
 */
#include "page/offline.h"

#include "base/base64.h"
#include "base/gzip.h"
#include "base/html.h"
#include "page/assets.h"
#include "page/data.h"
#include "page/download.h"
#include "page/reply.h"
#include "report/code/objects_memo.h"

/* The largest answer that is put in though it is not needed: as a report, and
 * gzipped.  A profile of some ten thousand stacks has smaller ones. */
#define LARGEST_PLAIN  ((size_t)64 << 20)
#define LARGEST_PACKED ((size_t)4 << 20)

/* The largest profile that can be taken out of the page again. */
#define LARGEST_PROFILE ((size_t)16 << 20)

/* How long binaries are read and disassembled for each report on code, all
 * types together: some seconds, as a large program needs them. */
#define CODE_LIMIT_NS ((int64_t)5 * 1000000000)

/* A word that the view adds to its request. */
enum addition {
    NOTHING,
    ALL_FUNCTIONS, /* sym=. */
    ALL_ROWS,      /* trim=f */
};

static const struct {
    const char *name;
    bool is_needed; /* without it there is no page */
    enum addition addition;
    bool reads_code;
    const char *empty; /* what an answer has in it that says nothing */
} answers[] = {
    {"meta", true, NOTHING, false, NULL},
    {"flame", true, NOTHING, false, NULL},
    {"top", true, ALL_ROWS, false, NULL},
    {"graph", true, NOTHING, false, NULL},
    {"peek", false, ALL_FUNCTIONS, false, NULL},
    {"labels", false, NOTHING, false, NULL},
    {"diff", false, NOTHING, false, NULL},
    {"explain", false, NOTHING, false, NULL},
    {"raw", false, NOTHING, false, "{\"text\":\"\""},
    {"traces", false, NOTHING, false, "{\"text\":\"\""},
    {"source", false, ALL_FUNCTIONS, true, "\"functions\":[]"},
    {"disasm", false, ALL_FUNCTIONS, true, "\"symbols\":[]"},
};

#define N_ANSWERS (sizeof(answers) / sizeof(*answers))

struct writer {
    struct page_request *q;
    struct buf *out;
    struct objects_memo *memo; /* NULL: no binaries */
    bool was_allowed[N_ANSWERS];

    /* The answers of the first type that has them, as they stand in `out`:
     * some are the same for all types. */
    struct {
        struct str type;
        size_t at, n;
    } first[N_ANSWERS];
};

/* ---- elements ---- */

static void open_element(struct buf *out, const char *name, struct str type)
{
    buf_addf(out,
             "<script type=\"application/octet-stream\" "
             "data-answer=\"%s?si=",
             name);
    buf_add_html(out, type);
    buf_add_char(out, '"');
}

/* Refers to an earlier copy of the same bytes. */
static void add_reference(struct writer *w, size_t i, struct str type)
{
    open_element(w->out, answers[i].name, type);
    buf_addf(w->out, " data-same=\"%s?si=", answers[i].name);
    buf_add_html(w->out, w->first[i].type);
    buf_add(w->out, STR("\"></script>\n"));
}

static void add_element(struct writer *w, size_t i, struct str type,
                        struct str bytes)
{
    struct buf *out = w->out;
    size_t start = out->len, at, n;

    open_element(out, answers[i].name, type);
    buf_add_char(out, '>');
    at = out->len;
    base64_encode(out, bytes);
    n = out->len - at;
    buf_add(out, STR("</script>\n"));
    if (!buf_ok(out))
        return;
    if (w->first[i].n == 0) {
        w->first[i].type = type;
        w->first[i].at = at;
        w->first[i].n = n;
    } else if (str_eq(str_of(out->data + at, n),
                      str_of(out->data + w->first[i].at, w->first[i].n))) {
        out->len = start;
        add_reference(w, i, type);
    }
}

/* ---- answers ---- */

/* Returns true if the request sets the number of rows itself. */
static bool limits_rows(const struct page_request *q)
{
    return query_get(q, "trim").n > 0 || query_get(q, "n").n > 0 ||
           query_get(q, "nf").n > 0;
}

/* The request for an answer: the type, and what else its view says. */
static struct page_request request_for(const struct page_request *q,
                                       struct str type, enum addition addition)
{
    struct page_request of = *q;
    struct str focus = q->config.focus;

    of.words.v = NULL;
    of.words.n = of.words.cap = 0;
    *vec_push(q->arena, &of.words) = (struct query_word){STR("si"), type};
    if (addition == ALL_FUNCTIONS)
        *vec_push(q->arena, &of.words) =
            (struct query_word){STR("sym"), focus.n > 0 ? focus : STR(".")};
    if (addition == ALL_ROWS && !limits_rows(q))
        *vec_push(q->arena, &of.words) =
            (struct query_word){STR("trim"), STR("f")};
    for (size_t i = 0; i < q->words.n; i++)
        if (!str_eq(q->words.v[i].name, STR("si")))
            *vec_push(q->arena, &of.words) = q->words.v[i];
    return of;
}

/* Returns true if an optional answer is worth its size. */
static bool is_worth(size_t i, struct str made, struct str packed)
{
    return packed.n <= LARGEST_PACKED &&
           !str_has_prefix(made, STR("{\"missing\":")) &&
           !(answers[i].empty &&
             str_contains(made, str_from(answers[i].empty)));
}

static bool add_answer(struct writer *w, struct str type, size_t i,
                       struct error *err)
{
    bool needed = answers[i].is_needed;
    struct page_request q = request_for(w->q, type, answers[i].addition);
    struct buf made = arena_buf(q.arena), packed = arena_buf(q.arena);
    bool ok;

    made.max = needed ? w->out->max : LARGEST_PLAIN;
    packed.max = w->out->max;
    if (answers[i].reads_code && w->memo && !w->was_allowed[i])
        objects_memo_allow(w->memo, CODE_LIMIT_NS);
    w->was_allowed[i] = true;
    ok = data_make(&q, str_from(answers[i].name), &made, err) &&
         gzip_deflate(buf_str(&made), &packed, err);

    if (ok && (needed || is_worth(i, buf_str(&made), buf_str(&packed))))
        add_element(w, i, type, buf_str(&packed));
    buf_release(&packed);
    buf_release(&made);
    return ok || !needed;
}

/* ---- types ---- */

struct types {
    struct str *names; /* from the arena */
    size_t n;
    size_t chosen; /* the one that is shown at first */
};

static bool find_types(struct page_request *q, struct types *out,
                       struct error *err)
{
    struct query_profile taken;
    const struct profile *p;
    bool ok;

    if (!query_take(q, &taken, err))
        return false;
    p = taken.profile;
    ok = report_sample_index(p, q->config.sample_index, &out->chosen, err);
    out->n = p->types.n;
    out->names = arena_new_array(q->arena, struct str, p->types.n);
    for (size_t i = 0; i < p->types.n; i++)
        out->names[i] = arena_str(q->arena, profile_str(p, p->types.v[i].type));
    profile_free(taken.profile);
    return ok;
}

static bool add_type(struct writer *w, struct str type, struct error *err)
{
    for (size_t i = 0; i < N_ANSWERS; i++)
        if (!add_answer(w, type, i, err))
            return false;
    return true;
}

/* The type that is shown at first comes first. */
static bool add_types(struct writer *w, struct error *err)
{
    struct types types;
    bool ok = query_apply(w->q, err) && find_types(w->q, &types, err) &&
              add_type(w, types.names[types.chosen], err);

    for (size_t i = 0; ok && i < types.n; i++)
        ok = i == types.chosen || add_type(w, types.names[i], err);
    return ok;
}

/* ---- the page ---- */

/* The profile's own bytes, to be saved again; left out if they are many. */
static void add_profile(struct page_request *q, struct buf *out)
{
    struct buf bytes = arena_buf(q->arena);
    struct error ignored;

    bytes.max = out->max;
    if (download_profile(q, &bytes, &ignored) && bytes.len <= LARGEST_PROFILE) {
        buf_add(out, STR("<script type=\"application/octet-stream\" "
                         "data-answer=\"download?\">"));
        base64_encode(out, buf_str(&bytes));
        buf_add(out, STR("</script>\n"));
    }
    buf_release(&bytes);
}

/* Reports on code share the binaries of one memo. */
static bool add_data(struct page_request *q, struct buf *out, struct error *err)
{
    const struct page_options *o = &q->page->options;
    const struct objects *objects =
        o->objects ? o->objects(o->arg, q->arena) : NULL;
    struct writer w = {.q = q, .out = out};
    struct objects_memo memo;
    bool ok;

    if (!objects)
        return add_types(&w, err);
    objects_memo_init(&memo, objects, q->arena);
    w.memo = &memo;
    q->objects = &memo.objects;
    ok = add_types(&w, err);
    q->objects = NULL;
    objects_memo_release(&memo);
    return ok;
}

bool offline_write(struct page_request *q, struct buf *out, struct error *err)
{
    buf_add(out, offline_start);
    if (!add_data(q, out, err))
        return false;
    add_profile(q, out);
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
    download_name(q, ".html");
    http_exchange_header(q->x, "Cache-Control", STR("no-store"));
    reply_bytes(q, STR("text/html; charset=utf-8"));
}
