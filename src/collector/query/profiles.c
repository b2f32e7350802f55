/*
 * Merges come from the store already summed by stack.  A difference is two
 * merges, subtracted as `pprof -diff_base` does it; a table is the report
 * that `pprof -json` prints, so that numbers are the same everywhere.
 */
#include "collector/query/profiles.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/json.h"
#include "base/memory_scope.h"
#include "base/time_text.h"
#include "collector/context.h"
#include "collector/query/window.h"
#include "profile/diff.h"
#include "profile/compatible.h"
#include "profile/merge.h"
#include "report/report.h"

#define TOP_DEFAULT      50
#define TOP_MAX          100000
#define PROFILES_DEFAULT 1000
#define PROFILES_MAX     100000

/* The message names what was searched: a misspelt type or service is the usual
 * cause. */
static void fail_not_found(struct call *c, const struct window *w)
{
    struct buf text = BUF_INIT(4096);

    buf_add(&text, STR("nothing found: no profile"));
    if (w->selector.n) {
        buf_add(&text, STR(" matches "));
        selector_format(&w->selector, c->arena, &text);
    }
    buf_add(&text, STR(" from "));
    time_add_rfc3339(&text, w->query.from_ns);
    buf_add(&text, STR(" to "));
    time_add_rfc3339(&text, w->query.to_ns);
    call_fail(c, 404, "%" STR_FMT, STR_ARG(buf_str(&text)));
    buf_release(&text);
}

/* The merge of a window; NULL after the call has been answered. */
static struct profile *merge(struct call *c, const struct window *w)
{
    struct store_budget budget = call_budget(c);
    struct store_progress progress = {0};
    struct profile *p;
    struct error err;
    enum store_status status =
        store_merge(c->collector->options.store, &w->query, w->values, &budget,
                    &p, &progress, &err);

    if (status == STORE_OK)
        return p;
    if (status == STORE_NOT_FOUND)
        fail_not_found(c, w);
    else
        call_fail_store(c, status, &progress, &err);
    return NULL;
}

/* "api.cpu.pb.gz", as far as the selector says it. */
static struct str file_name(struct call *c, const struct window *w)
{
    struct str service = selector_service(&w->selector);
    struct str type = selector_type(&w->selector);
    char *name =
        arena_printf(c->arena, "%" STR_FMT "%s%" STR_FMT "%s.pb.gz",
                     STR_ARG(service), service.n ? "." : "", STR_ARG(type),
                     service.n + type.n ? "" : "profile");

    for (char *p = name; *p; p++)
        if (*p < ' ' || *p == '"' || *p == '/' || *p == '\\' || *p >= 127)
            *p = '_';
    return str_from(name);
}

void query_merge(void *request)
{
    struct call *c = request;
    struct window w;
    struct profile *p;

    if (!window_read(&w, c))
        return;
    p = merge(c, &w);
    if (p)
        call_send_profile(c, p, file_name(c, &w));
    window_release(&w);
}

/* The difference of two windows; NULL after the call has been answered. */
static struct profile *difference(struct call *c, const struct window *w,
                                  const struct window *base)
{
    struct diff_options options = {.mark = true};
    struct profile *pair[2], *diff;
    struct error err;

    options.normalize = str_eq(call_param(c, STR("normalize")), STR("true"));
    pair[0] = merge(c, w);
    pair[1] = pair[0] ? merge(c, base) : NULL;
    if (!pair[1]) {
        profile_free(pair[0]);
        return NULL;
    }
    if (!profile_make_compatible(pair, 2, &err)) {
        profile_pair_free((struct profile_pair){pair[0], pair[1]});
        diff = NULL;
    } else {
        diff = profile_diff(pair[0], pair[1], options, &err);
    }
    if (!diff)
        call_fail(c, 422, "the two selections cannot be compared: %s",
                  err.text);
    return diff;
}

void query_diff(void *request)
{
    struct call *c = request;
    struct window w, base;
    struct profile *p;

    if (!window_read(&w, c))
        return;
    if (window_read_base(&base, c, &w)) {
        p = difference(c, &w, &base);
        if (p)
            call_send_profile(c, p, STR("diff.pb.gz"));
        window_release(&base);
    }
    window_release(&w);
}

/* --- top ------------------------------------------------------------------ */

/* The options of a report that a URL can set: sort, focus, sample_index … */
static bool read_config(struct call *c, struct report_config *config)
{
    struct error err;

    config_init(config);
    for (size_t i = 0; i < config_n_fields; i++) {
        const struct config_field *f = &config_fields[i];
        struct str value = call_param(c, str_from(f->name));

        if (value.n > 0 && !config_set(config, c->arena, f, value, &err)) {
            call_fail(c, 400, "%s: %s", f->name, err.text);
            return false;
        }
    }
    return true;
}

/* A report in a memory scope of its own. */
struct table {
    struct call *call;
    struct profile *profile;
    const struct report_config *config;
};

static void send_table(void *arg)
{
    struct table *t = arg;
    struct call *c = t->call;
    struct report_request request = {.format = REPORT_JSON,
                                     .config = t->config};
    struct buf warnings = arena_buf(c->arena);
    struct error err;

    if (report_write(t->profile, &request, &c->x->body, &warnings, &err))
        call_json(c);
    else
        call_fail(c, 400, "%s", err.text);
}

void query_top(void *request)
{
    struct call *c = request;
    struct report_config config;
    struct table table = {.call = c, .config = &config};
    struct window w;
    struct error err;
    uint64_t n;

    if (!read_config(c, &config) ||
        !window_count(c, STR("n"), TOP_DEFAULT, TOP_MAX, &n))
        return;
    if (call_param(c, STR("nodecount")).n == 0)
        config.nodecount = (int)n;
    if (!window_read(&w, c))
        return;
    table.profile = merge(c, &w);
    if (table.profile) {
        if (!memory_scope_run(c->collector->options.query_memory_bytes,
                              send_table, &table, &err))
            call_fail(c, 422, "%s", err.text);
        profile_free(table.profile);
    }
    window_release(&w);
}

/* --- list ----------------------------------------------------------------- */

struct listing {
    struct json json;
    uint64_t left; /* how many more may be listed */
    bool has_more;
    struct store_id last;
    int64_t last_ns;
};

static void add_time(struct json *j, const char *key, int64_t ns)
{
    struct buf text = BUF_INIT(64);

    time_add_rfc3339_nanos(&text, ns);
    json_key(j, str_from(key));
    json_string(j, buf_str(&text));
    buf_release(&text);
}

static void add_labels(struct json *j, const struct store_profile *p)
{
    json_key(j, STR("labels"));
    json_open(j, '{');
    for (size_t i = 0; i < p->n_labels; i++) {
        json_key(j, p->labels[i].key);
        json_string(j, p->labels[i].value);
    }
    json_close(j, '}');
}

static void add_totals(struct json *j, const struct store_profile *p)
{
    json_key(j, STR("totals"));
    json_open(j, '[');
    for (size_t i = 0; i < p->n_totals; i++) {
        json_open(j, '{');
        json_key(j, STR("type"));
        json_string(j, p->totals[i].type);
        json_key(j, STR("unit"));
        json_string(j, p->totals[i].unit);
        json_key(j, STR("sum"));
        json_i64(j, p->totals[i].sum);
        json_key(j, STR("change"));
        json_i64(j, p->totals[i].change);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static bool add_profile(void *arg, const struct store_profile *p)
{
    struct listing *l = arg;
    struct json *j = &l->json;
    char id[STORE_ID_TEXT + 1];

    if (l->left == 0) {
        l->has_more = true;
        return false;
    }
    l->left--;
    l->last = p->id;
    l->last_ns = p->created_at_ns;
    store_id_format(&p->id, id);
    json_open(j, '{');
    json_key(j, STR("id"));
    json_string(j, str_from(id));
    json_key(j, STR("service"));
    json_string(j, p->service);
    json_key(j, STR("type"));
    json_string(j, p->type);
    add_labels(j, p);
    add_time(j, "created_at", p->created_at_ns);
    json_key(j, STR("duration_seconds"));
    json_double(j, (double)p->duration_ns / 1e9);
    json_key(j, STR("bytes"));
    json_i64(j, (int64_t)p->posted_bytes);
    json_key(j, STR("samples"));
    json_i64(j, (int64_t)p->samples);
    add_totals(j, p);
    json_close(j, '}');
    return buf_ok(j->out);
}

/* The cursor is "NANOSECONDS-ID" of the last profile listed. */
static bool read_cursor(struct call *c, struct store_page *page)
{
    struct str text = call_param(c, STR("after"));
    ptrdiff_t dash = str_rfind_char(text, '-');

    if (text.n == 0)
        return true;
    if (dash > 0 &&
        str_to_i64(str_first(text, (size_t)dash), 10, &page->after_ns) &&
        store_id_parse(str_skip(text, (size_t)dash + 1), &page->after_id))
        return true;
    call_fail(c, 400,
              "after: \"%" STR_FMT "\" is not a cursor; use the value of "
              "\"next\" from the page before",
              STR_ARG(text));
    return false;
}

static void end_listing(struct listing *l)
{
    char id[STORE_ID_TEXT + 1], cursor[64];

    json_close(&l->json, ']');
    if (l->has_more) {
        store_id_format(&l->last, id);
        snprintf(cursor, sizeof(cursor), "%" PRId64 "-%s", l->last_ns, id);
        json_key(&l->json, STR("next"));
        json_string(&l->json, str_from(cursor));
    }
    json_close(&l->json, '}');
    buf_add_char(l->json.out, '\n');
}

void query_profiles(void *request)
{
    struct call *c = request;
    struct listing l = {.json = json_start(&c->x->body, 0)};
    struct store_budget budget = call_budget(c);
    struct store_progress progress = {0};
    struct store_page page = {.newest_first = true};
    enum store_status status;
    struct error err;
    struct window w;

    if (!window_count(c, STR("limit"), PROFILES_DEFAULT, PROFILES_MAX,
                      &l.left) ||
        !read_cursor(c, &page) || !window_read(&w, c))
        return;
    if (str_eq(call_param(c, STR("order")), STR("oldest")))
        page.newest_first = false;
    page.limit = l.left + 1; /* one more: is there a next page? */
    json_open(&l.json, '{');
    json_key(&l.json, STR("profiles"));
    json_open(&l.json, '[');
    status = store_list(c->collector->options.store, &w.query, &page, &budget,
                        add_profile, &l, &progress, &err);
    end_listing(&l);
    if (status == STORE_OK)
        call_json(c);
    else
        call_fail_store(c, status, &progress, &err);
    window_release(&w);
}
