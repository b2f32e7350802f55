/* What the page must know before it asks for anything else. */
#include "page/data.h"
#include "page/settings.h"
#include "report/total.h"

static void add_types(struct json *j, const struct profile *p)
{
    json_key(j, STR("sample_types"));
    json_open(j, '[');
    for (size_t i = 0; i < p->types.n; i++) {
        json_open(j, '{');
        json_add_text(j, "type", profile_str(p, p->types.v[i].type));
        json_add_text(j, "unit", profile_str(p, p->types.v[i].unit));
        json_close(j, '}');
    }
    json_close(j, ']');
}

/* The options that have a word in a query, by that word. */
static void add_config(struct json *j, const char *key,
                       const struct report_config *c)
{
    struct buf value = BUF_INIT(BUF_NO_LIMIT);

    json_key(j, str_from(key));
    json_open(j, '{');
    for (size_t i = 0; i < config_n_fields; i++) {
        if (!config_fields[i].param)
            continue;
        buf_clear(&value);
        config_get(c, &config_fields[i], &value);
        json_add_text(j, config_fields[i].param, buf_str(&value));
    }
    json_close(j, '}');
    buf_release(&value);
}

static void add_comments(struct json *j, const struct profile *p)
{
    json_key(j, STR("comments"));
    json_open(j, '[');
    for (size_t i = 0; i < p->comments.n; i++)
        json_string(j, profile_str(p, p->comments.v[i]));
    json_close(j, ']');
}

/* The part that comes from the report: filters have been applied. */
static bool report_part(struct report *r, struct buf *out, struct error *err)
{
    const struct profile *p = r->profile;
    struct json j = json_start(out, 0);

    (void)err;
    json_open(&j, '{');
    json_add_text(&j, "title",
                  str_from(arena_printf(
                      r->arena, "%" STR_FMT " %" STR_FMT,
                      STR_ARG(r->title.n > 0 ? r->title : STR("unknown")),
                      STR_ARG(r->sample_type))));
    json_add_profile_legend(&j, r);
    add_types(&j, p);
    json_add_text(&j, "sample_index",
                  profile_str(p, p->types.v[r->value_index].type));
    json_add_i64(&j, "total", r->total);
    json_add_value_text(&j, "total_text", r, r->total);
    json_add_text(&j, "unit", r->sample_unit);
    json_add_bool(&j, "has_base", base_mark_find(p).key != NO_INDEX);
    add_comments(&j, p);
    json_add_text(&j, "doc_url", profile_str(p, p->doc_url));
    return true;
}

bool data_meta(struct page_request *q, struct buf *out, struct error *err)
{
    struct buf warnings = BUF_INIT(BUF_NO_LIMIT);
    struct report_request request = {
        .format = REPORT_TEXT, .config = &q->config, .body = report_part};
    bool is_trusted;
    struct profile *p = query_take_profile(q, &is_trusted, err);
    struct json j = json_start(out, 0);
    bool ok = p && report_write(p, &request, out, &warnings, err);

    profile_free(p);
    buf_release(&warnings);
    if (!ok)
        return false;
    j.depth = 1; /* inside the object that report_part opened */
    j.first = false;
    add_config(&j, "default_config", q->page->options.config);
    add_config(&j, "config", &q->config);
    settings_add_menu(&j, q);
    profiles_add_json(&j, &q->page->profiles);
    json_add_bool(&j, "can_normalize", query_has_base(q));
    json_add_bool(&j, "can_fetch", q->page->options.fetch != NULL);
    json_add_text(&j, "version", STR(PPROF_VERSION));
    json_close(&j, '}');
    return true;
}
