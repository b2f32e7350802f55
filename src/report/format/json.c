/*
 * -json: the table of -top for programs.  Numbers are in the profile's own
 * unit, never scaled or rounded.  docs/formats.md is the contract; members
 * may be added, but what is there keeps its name and meaning.
 */
#include <time.h>

#include "base/json.h"
#include "base/number.h"
#include "report/format/top.h"
#include "report/total.h"

#define VERSION 1

/* A member that is left out when it is empty. */
static void add_text(struct json *j, const char *key, struct str value)
{
    if (value.n == 0)
        return;
    json_key(j, str_from(key));
    json_string(j, value);
}

static void add_number(struct json *j, const char *key, int64_t value)
{
    if (value == 0)
        return;
    json_key(j, str_from(key));
    json_i64(j, value);
}

static void add_share(struct json *j, const char *key, const struct report *r,
                      int64_t value)
{
    double total = (double)r->total;

    json_key(j, str_from(key));
    json_double(j, total != 0 ? (double)value / total * 100 : 0);
}

static void add_value(struct json *j, const char *key, const struct report *r,
                      int64_t value)
{
    json_key(j, str_from(key));
    json_i64(j, report_divided(r, value));
}

/* RFC 3339, in UTC. */
static void add_time(struct json *j, const struct report *r, int64_t unix_ns)
{
    int64_t ns = unix_ns % 1000000000;
    time_t seconds = (time_t)(unix_ns / 1000000000);
    const char *fraction = "";
    char date[32];
    struct tm tm;

    if (unix_ns == 0)
        return;
    if (ns < 0) {
        ns += 1000000000;
        seconds--;
    }
    gmtime_r(&seconds, &tm);
    strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm);
    if (ns != 0)
        fraction = arena_printf(r->arena, ".%09d", (int)ns);
    add_text(j, "time",
             str_from(arena_printf(r->arena, "%s%sZ", date, fraction)));
}

static void add_profile(struct json *j, const struct report *r)
{
    const struct profile *p = r->profile;

    json_key(j, STR("profile"));
    json_open(j, '{');
    add_text(j, "file", r->title);
    if (p->mappings.n > 0)
        add_text(j, "build_id", profile_str(p, p->mappings.v[0].build_id));
    add_time(j, r, p->time_ns);
    add_number(j, "duration_ns", p->duration_ns);
    add_number(j, "period", p->period);
    add_text(j, "period_type", profile_str(p, p->period_type.type));
    add_text(j, "period_unit", profile_str(p, p->period_type.unit));
    add_text(j, "doc_url", profile_str(p, p->doc_url));
    if (p->comments.n > 0) {
        json_key(j, STR("comments"));
        json_open(j, '[');
        for (size_t i = 0; i < p->comments.n; i++)
            json_string(j, profile_str(p, p->comments.v[i]));
        json_close(j, ']');
    }
    json_close(j, '}');
}

static void add_filters(struct json *j, const struct report_config *c)
{
    json_key(j, STR("filters"));
    json_open(j, '{');
    add_text(j, "focus", c->focus);
    add_text(j, "ignore", c->ignore);
    add_text(j, "prune_from", c->prune_from);
    add_text(j, "hide", c->hide);
    add_text(j, "show", c->show);
    add_text(j, "show_from", c->show_from);
    add_text(j, "tagfocus", c->tagfocus);
    add_text(j, "tagignore", c->tagignore);
    add_text(j, "tagshow", c->tagshow);
    add_text(j, "taghide", c->taghide);
    add_text(j, "tagroot", c->tagroot);
    add_text(j, "tagleaf", c->tagleaf);
    json_close(j, '}');
}

static void add_shown(struct json *j, const struct report *r,
                      const struct header_counts *counts)
{
    json_key(j, STR("shown"));
    json_open(j, '{');
    json_key(j, STR("rows"));
    json_i64(j, (int64_t)counts->shown);
    json_key(j, STR("of"));
    json_i64(j, (int64_t)(counts->candidates + counts->dropped_nodes));
    add_value(j, "flat", r, counts->flat_sum);
    add_share(j, "flat_percent", r, counts->flat_sum);
    json_close(j, '}');
}

static void add_row(struct json *j, const struct report *r,
                    const struct top_row *row)
{
    static const char *const inlined[] = {
        [TOP_NOT_INLINED] = "no",
        [TOP_PARTLY_INLINED] = "some",
        [TOP_INLINED] = "all",
    };
    const struct frame *f = &row->frame;

    json_open(j, '{');
    json_key(j, STR("name"));
    json_string(j, f->name.n > 0 ? f->name : row->name);
    add_text(j, "file", f->file);
    add_number(j, "line", f->line);
    add_number(j, "column", f->column);
    if (f->address != 0)
        add_text(j, "address",
                 str_from(arena_printf(r->arena, "0x%llx",
                                       (unsigned long long)f->address)));
    add_text(j, "object", f->object);
    add_value(j, "flat", r, row->flat);
    add_share(j, "flat_percent", r, row->flat);
    add_value(j, "cum", r, row->cum);
    add_share(j, "cum_percent", r, row->cum);
    json_key(j, STR("inline"));
    json_string(j, str_from(inlined[row->inlined]));
    json_close(j, '}');
}

bool format_json(struct report *r, struct buf *out, struct error *err)
{
    struct json j = json_start(out, 2);
    struct base_mark mark = base_mark_find(r->profile);
    struct top_table t;

    (void)err;
    top_make(&t, r);
    json_open(&j, '{');
    add_text(&j, "format", STR("pprof-top"));
    add_number(&j, "version", VERSION);
    add_profile(&j, r);
    add_text(&j, "type", r->sample_type);
    add_text(&j, "unit", r->sample_unit);
    json_key(&j, STR("difference"));
    json_bool(&j, mark.key != NO_INDEX);
    add_text(&j, "sort", r->config.sort);
    add_text(&j, "granularity", r->config.granularity);
    add_filters(&j, &r->config);
    add_value(&j, "total", r, r->total);
    add_shown(&j, r, &t.counts);
    json_key(&j, STR("rows"));
    json_open(&j, '[');
    for (size_t i = 0; i < t.n; i++)
        add_row(&j, r, &t.rows[i]);
    json_close(&j, ']');
    json_close(&j, '}');
    buf_add_char(out, '\n');
    return true;
}
