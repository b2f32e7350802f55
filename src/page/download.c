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

bool download_profile(const struct page_request *q, struct buf *out,
                      struct error *err)
{
    bool is_trusted, ok;
    struct profile *p = query_take_profile(q, &is_trusted, err);

    ok = p && profile_encode_gzip_consume(p, out, err);
    profile_free(p);
    return ok;
}

static bool make_report(struct page_request *q, enum report_format format,
                        struct error *err)
{
    struct buf warnings = BUF_INIT(BUF_NO_LIMIT);
    struct report_request request = {.format = format, .config = &q->config};
    bool is_trusted, ok;
    struct profile *p = query_take_profile(q, &is_trusted, err);

    ok = p && report_write(p, &request, &q->x->body, &warnings, err);
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
    if (!query_apply(q, &err) ||
        !(f ? make_report(q, f->format, &err)
            : download_profile(q, &q->x->body, &err))) {
        reply_text(q, 400, str_from(err.text));
        return;
    }
    add_name(q, f ? f->file : "profile.pb.gz");
    if (f)
        reply_body(q, f->type);
    else
        reply_bytes(q, STR("application/vnd.google.protobuf+gzip"));
}
