/* What the page must know before it asks for anything else. */
#include <stdio.h>

#include "base/i64.h"
#include "page/data.h"
#include "page/json_fields.h"
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
static void add_config(struct json *j, struct arena *a, const char *key,
                       const struct report_config *c)
{
    struct buf value = arena_buf(a);

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

/* What the filters left: of the profile, and of a base that is marked. */
static void add_shown(struct json *j, const struct report *r)
{
    struct base_mark mark = base_mark_find(r->profile);
    int64_t shown = 0, base = 0;

    for (size_t i = 0; i < r->profile->n_samples; i++) {
        int64_t value = report_value(r, i);

        if (mark.key != NO_INDEX && base_mark_on(&mark, r->profile, i))
            base = i64_sub(base, value); /* negative in the profile */
        else
            shown = i64_add(shown, value);
    }
    json_add_i64(j, "shown", shown);
    json_add_value_text(j, "shown_text", r, shown);
    if (mark.key == NO_INDEX)
        return;
    json_add_i64(j, "base_shown", base);
    json_add_value_text(j, "base_shown_text", r, base);
    json_add_value_text(j, "change_text", r, i64_sub(shown, base));
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
    add_shown(&j, r);
    json_add_text(&j, "unit", r->sample_unit);
    json_add_bool(&j, "has_base", base_mark_find(p).key != NO_INDEX);
    add_comments(&j, p);
    json_add_text(&j, "doc_url", profile_str(p, p->doc_url));
    return true;
}

static void add_listed(void *to, const struct page_listed *profile)
{
    struct json *j = to;

    json_open(j, '{');
    json_add_text(j, "id", profile->selection);
    json_add_text(j, "name", profile->name);
    json_add_bool(j, "added", profile->is_added);
    json_close(j, '}');
}

static void add_profiles(struct json *j, const struct page_source *source)
{
    json_key(j, STR("profiles"));
    json_open(j, '[');
    if (source->list)
        source->list(source->arg, add_listed, j);
    json_close(j, ']');
}

/* One side of a comparison, or the only one.  Times are texts of nanoseconds:
 * as numbers they would lose digits in a browser. */
static void add_side(struct json *j, const char *key,
                     const struct page_content *content,
                     const struct page_side *side)
{
    char time[24], duration[24];

    snprintf(time, sizeof(time), "%lld", (long long)side->time_ns);
    snprintf(duration, sizeof(duration), "%lld", (long long)side->duration_ns);
    json_key(j, str_from(key));
    json_open(j, '{');
    json_add_text(j, "selection", content->selection);
    json_add_text(j, "name", side->name);
    json_add_text(j, "time_ns", str_from(time));
    json_add_text(j, "duration_ns", str_from(duration));
    json_close(j, '}');
}

bool data_meta(struct page_request *q, struct buf *out, struct error *err)
{
    struct buf warnings = arena_buf(q->arena);
    struct report_request request = {.format = REPORT_TEXT,
                                     .config = &q->config,
                                     .also = q->also.v,
                                     .n_also = q->also.n,
                                     .body = report_part};
    const struct page_source *source = &q->page->source;
    struct query_profile taken;
    struct json j = json_start(out, 0);
    bool ok;

    if (!query_take(q, &taken, err))
        return false;
    ok = report_write(taken.profile, &request, out, &warnings, err);
    profile_free(taken.profile);
    buf_release(&warnings);
    if (!ok)
        return false;
    j.depth = 1; /* inside the object that report_part opened */
    j.first = false;
    add_config(&j, q->arena, "default_config", q->page->options.config);
    add_config(&j, q->arena, "config", &q->config);
    settings_add_menu(&j, q);
    add_profiles(&j, source);
    add_side(&j, "a", &q->a, &taken.side);
    if (query_has_base(q) && taken.base.name.n > 0)
        add_side(&j, "b", &q->b, &taken.base);
    json_add_bool(&j, "can_normalize", query_has_base(q));
    json_add_bool(&j, "can_fetch", source->fetch != NULL);
    json_add_bool(&j, "can_add", source->add != NULL);
    json_add_bool(&j, "is_fleet", source->is_fleet);
    json_add_text(&j, "version", STR(PPROF_VERSION));
    json_close(&j, '}');
    return true;
}
