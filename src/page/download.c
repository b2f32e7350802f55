/*
 * The profile, or a report made from it, as a file to keep.  The formats are
 * those of the terminal, by the same functions.
 */
#include "page/download.h"

#include "base/path.h"
#include "page/reply.h"
#include "profile/encode.h"

#define STEM_MAX      100 /* bytes of a file's name without its ending */
#define FILE_NAME_MAX 256

struct download_format {
    const char *name;
    enum report_format format;
    const char *ending;
    struct str type;
};

static const struct download_format formats[] = {
    {"folded", REPORT_FOLDED, ".folded", STR_INIT("text/plain; charset=utf-8")},
    {"json", REPORT_JSON, ".json", STR_INIT("application/json")},
    {"speedscope", REPORT_SPEEDSCOPE, ".speedscope.json",
     STR_INIT("application/json")},
};

/* Cuts an ending off, if it is there. */
static struct str without(struct str name, struct str ending)
{
    return str_has_suffix(name, ending) && name.n > ending.n
               ? str_first(name, name.n - ending.n)
               : name;
}

/* What a profile is called, without its directory and endings. */
static struct str stem_of(struct str name)
{
    name = without(path_base(name), STR(".gz"));
    name = without(name, STR(".pb"));
    name = without(name, STR(".pprof"));
    return name.n > 0 ? name : STR("profile");
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
}

/* The name is not trusted: only plain characters get into a header. */
void download_name(struct page_request *q, const char *ending)
{
    struct buf value = BUF_INIT(FILE_NAME_MAX);
    struct str stem = stem_of(q->file_name);

    buf_add(&value, STR("attachment; filename=\""));
    for (size_t i = 0; i < stem.n && i < STEM_MAX; i++)
        buf_add_char(&value, is_plain(stem.s[i]) ? stem.s[i] : '_');
    buf_add(&value, str_from(ending));
    buf_add_char(&value, '"');
    http_exchange_header(q->x, "Content-Disposition", buf_str(&value));
    buf_release(&value);
}

bool download_profile(struct page_request *q, struct buf *out,
                      struct error *err)
{
    struct query_profile taken;
    bool ok;

    if (!query_take(q, &taken, err))
        return false;
    ok = profile_encode_gzip_consume(taken.profile, out, err);
    profile_free(taken.profile);
    return ok;
}

static bool make_report(struct page_request *q, enum report_format format,
                        struct error *err)
{
    struct buf warnings = arena_buf(q->arena);
    struct report_request request = {.format = format,
                                     .config = &q->config,
                                     .also = q->also.v,
                                     .n_also = q->also.n};
    struct query_profile taken;
    bool ok;

    if (!query_take(q, &taken, err))
        return false;
    ok = report_write(taken.profile, &request, &q->x->body, &warnings, err);
    buf_release(&warnings);
    profile_free(taken.profile);
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
        reply_failure(q, &err);
        return;
    }
    download_name(q, f ? f->ending : ".pb.gz");
    if (f)
        reply_body(q, f->type);
    else
        reply_bytes(q, STR("application/vnd.google.protobuf+gzip"));
}
