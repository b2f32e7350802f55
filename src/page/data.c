/*
 * The table of what views can ask for, and how each is made: which report,
 * with which options, from which profile.
 */
#include "page/data.h"

#include "base/gzip.h"
#include "page/json_fields.h"

/* What a report says about binaries that it could not open. */
#define ASIDE_MAX ((size_t)64 << 10)

enum argument {
    ARGUMENT_NONE,
    ARGUMENT_NAME, /* sym=REGEXP chooses functions; without it f does */
};

struct data_kind {
    const char *name;
    enum report_format format;
    report_body *body; /* NULL: the terminal's report, as {text} */
    void (*adjust)(struct report_config *c);
    enum argument argument;
    bool opens_files; /* that the profile names: sources, binaries */
};

/* Names alone would make one function of many with the same name. */
static void adjust_flame(struct report_config *c)
{
    c->trim = false;
    c->call_tree = true;
    if (c->granularity.n == 0)
        c->granularity = STR("filefunctions");
}

static void adjust_peek(struct report_config *c)
{
    c->granularity = STR("lines");
}

/* Sorted by name. */
static const struct data_kind kinds[] = {
    {"diff", REPORT_FLAME, data_diff, NULL, ARGUMENT_NONE, false},
    {"disasm", REPORT_DISASM, data_disasm, NULL, ARGUMENT_NAME, true},
    {"explain", REPORT_EXPLAIN, NULL, NULL, ARGUMENT_NONE, false},
    {"flame", REPORT_FLAME, data_flame, adjust_flame, ARGUMENT_NONE, false},
    {"graph", REPORT_DOT, data_graph, NULL, ARGUMENT_NONE, false},
    {"labels", REPORT_TAGS, data_labels, NULL, ARGUMENT_NONE, false},
    {"peek", REPORT_PEEK, NULL, adjust_peek, ARGUMENT_NAME, false},
    {"raw", REPORT_RAW, NULL, NULL, ARGUMENT_NONE, false},
    {"source", REPORT_WEBLIST, data_source, NULL, ARGUMENT_NAME, true},
    {"stacks", REPORT_DOT, data_stacks, adjust_flame, ARGUMENT_NONE, false},
    {"tags", REPORT_TAGS, NULL, NULL, ARGUMENT_NONE, false},
    {"top", REPORT_TEXT, data_top, NULL, ARGUMENT_NONE, false},
    {"traces", REPORT_TRACES, NULL, NULL, ARGUMENT_NONE, false},
};

static const struct data_kind *find(struct str name)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        if (str_eq(name, str_from(kinds[i].name)))
            return &kinds[i];
    return NULL;
}

static void wrap_text(struct buf *out, struct str text, struct str warnings)
{
    struct json j = json_start(out, 0);

    json_open(&j, '{');
    json_add_text(&j, "text", text);
    json_add_lines(&j, "warnings", warnings);
    json_close(&j, '}');
}

/*
 * A profile from another machine can name any file.  The user of this machine
 * may read these files anyway; other clients must not get them in this way.
 */
static bool no_files(struct error *err)
{
    return error_set(err, "sources and binaries are not opened for a profile "
                          "that came from another machine: save it, and open "
                          "it with pprof where they are");
}

static const struct objects *find_objects(const struct page_request *q)
{
    const struct page_options *o = &q->page->options;

    return q->objects || !o->objects ? q->objects
                                     : o->objects(o->arg, q->arena);
}

/*
 * What a report is about is not a filter: with sym=NAME the numbers stay
 * those of the whole profile.  google/pprof's page has one word for both.
 */
static void choose_functions(struct page_request *q,
                             const struct data_kind *kind,
                             struct report_request *request)
{
    struct str chosen = query_get(q, "sym");

    if (kind->adjust && chosen.n == 0)
        kind->adjust(&q->config);
    if (kind->argument == ARGUMENT_NAME)
        request->argument = chosen.n > 0 ? chosen : query_get(q, "f");
}

/* {"missing": why there is no code to show, and what to do about it}: not an
 * error, because users look at one function after another. */
static void add_missing(struct buf *out, struct str tried,
                        const struct error *err)
{
    struct json j = json_start(out, 0);
    struct str line, why = str_from(err->text);
    struct buf words = BUF_INIT(ASIDE_MAX);

    if (str_next_line(&tried, &line)) {
        why = STR("Set PPROF_BINARY_PATH to the directories that contain the "
                  "binary, or name it as the first argument of pprof.");
        buf_add(&words, line);
        buf_add(&words, STR(". "));
    }
    buf_add(&words, why);
    buf_clear(out);
    json_open(&j, '{');
    json_add_text(&j, "missing", buf_str(&words));
    json_close(&j, '}');
    buf_release(&words);
}

/* Runs the report of a kind into `out`. */
static bool run(struct page_request *q, const struct data_kind *kind,
                struct buf *out, struct error *err)
{
    const struct page_options *o = &q->page->options;
    struct buf warnings = arena_buf(q->arena);
    struct buf text = arena_buf(q->arena);
    struct buf aside = BUF_INIT(ASIDE_MAX);
    struct report_request request = {.format = kind->format,
                                     .body = kind->body,
                                     .config = &q->config,
                                     .also = q->also.v,
                                     .n_also = q->also.n,
                                     .aside = &aside};
    struct query_profile taken;
    bool ok;

    if (!query_take(q, &taken, err))
        return false;
    text.max = out->max;
    choose_functions(q, kind, &request);
    if (kind->opens_files)
        request.objects = find_objects(q);
    ok = (!kind->opens_files || taken.is_trusted || o->local_only ||
          no_files(err)) &&
         report_write(taken.profile, &request, kind->body ? out : &text,
                      &warnings, err);
    if (!ok && kind->opens_files && query_get(q, "sym").n > 0) {
        add_missing(out, buf_str(&aside), err);
        ok = true;
    }
    if (ok && !kind->body)
        wrap_text(out, buf_str(&text), buf_str(&warnings));
    if (ok && !(buf_ok(out) && buf_ok(&text)))
        ok = error_set(err, "the reply is larger than %zu bytes", out->max);
    buf_release(&text);
    buf_release(&warnings);
    buf_release(&aside);
    profile_free(taken.profile);
    return ok;
}

bool data_exists(struct str name)
{
    return find(name) || str_eq(name, STR("meta"));
}

bool data_make(struct page_request *q, struct str name, struct buf *out,
               struct error *err)
{
    const struct data_kind *kind = find(name);

    return query_apply(q, err) &&
           (kind ? run(q, kind, out, err) : data_meta(q, out, err));
}

bool data_is_constant(struct str name)
{
    const struct data_kind *kind = find(name);

    return kind && !kind->opens_files;
}

struct question {
    struct page_request *q;
    struct str name;
};

static bool pack(void *arg, struct buf *out, struct error *err)
{
    const struct question *question = arg;
    struct buf plain = arena_buf(question->q->arena);
    bool ok;

    plain.max = out->max;
    ok = data_make(question->q, question->name, &plain, err) &&
         gzip_deflate(buf_str(&plain), out, err);
    buf_release(&plain);
    return ok;
}

bool data_make_packed(struct page_request *q, struct str name, struct buf *out,
                      struct error *err)
{
    struct question question = {q, name};
    struct buf key = arena_buf(q->arena);
    bool ok;

    if (!data_is_constant(name))
        return pack(&question, out, err);
    if (!query_resolve(q, err))
        return false;
    buf_add(&key, name);
    buf_add_char(&key, '?');
    buf_add(&key, query_version(q));
    ok = answers_get(&q->page->answers, buf_str(&key), pack, &question, out,
                     err);
    buf_release(&key);
    return ok;
}

struct str data_type(struct str name)
{
    return str_eq(name, STR("flame")) ? STR("application/octet-stream")
                                      : STR("application/json");
}
