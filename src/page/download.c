#include "page/download.h"

#include "page/reply.h"
#include "profile/encode.h"

struct download_format {
    const char *name;
    enum report_format format;
    const char *file;
    struct str type;
};

static const struct download_format formats[] = {
    {"folded", REPORT_FOLDED, "profile.folded",
     STR_INIT("text/plain; charset=utf-8")},
    {"json", REPORT_JSON, "profile.json", STR_INIT("application/json")},
    {"speedscope", REPORT_SPEEDSCOPE, "profile.speedscope.json",
     STR_INIT("application/json")},
};

static void add_name(struct page_request *q, const char *file)
{
    http_exchange_header(
        q->x, "Content-Disposition",
        str_from(arena_printf(q->arena, "attachment; filename=\"%s\"", file)));
}

static bool make(struct page_request *q, const struct download_format *f,
                 struct error *err)
{
    struct buf warnings = BUF_INIT(BUF_NO_LIMIT);
    struct report_request request = {.format = f ? f->format : REPORT_PROTO,
                                     .config = &q->config};
    bool is_trusted, ok = query_apply(q, err);
    struct profile *p = ok ? query_take_profile(q, &is_trusted, err) : NULL;

    ok = p != NULL;
    if (ok && f)
        ok = report_write(p, &request, &q->x->body, &warnings, err);
    else if (ok)
        ok = profile_encode_gzip_consume(p, &q->x->body, err);
    buf_release(&warnings);
    profile_free(p);
    return ok;
}

void download_answer(struct page_request *q)
{
    struct str name = query_get(q, "format");
    const struct download_format *f = NULL;
    struct error err;

    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
        if (str_eq(name, str_from(formats[i].name)))
            f = &formats[i];
    if (!f && name.n > 0 && !str_eq(name, STR("pprof"))) {
        reply_text(q, 400,
                   STR("unknown format: there are pprof, folded, json and "
                       "speedscope"));
        return;
    }
    if (!make(q, f, &err)) {
        reply_text(q, 400, str_from(err.text));
        return;
    }
    add_name(q, f ? f->file : "profile.pb.gz");
    if (f)
        reply_body(q, f->type);
    else
        reply_bytes(q, STR("application/vnd.google.protobuf+gzip"));
}
