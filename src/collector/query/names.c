/*
 * What there is to ask for: services with their types, label names, and the
 * values of a label, each with a count and the time of its newest profile.
 * Without from and to, all times count: people look for what they have.
 */
#include "collector/query/names.h"

#include "base/json.h"
#include "collector/context.h"
#include "collector/query/window.h"

static void add_count(struct json *j, const char *key, struct str text,
                      const struct store_count *count)
{
    json_open(j, '{');
    json_key(j, str_from(key));
    json_string(j, text);
    json_key(j, STR("profiles"));
    json_i64(j, (int64_t)count->profiles);
    json_key(j, STR("first"));
    json_thousandths(j, count->first_ns / 1000000);
    json_key(j, STR("last"));
    json_thousandths(j, count->last_ns / 1000000);
    json_close(j, '}');
}

/* The window, with all times where the request names none. */
static bool read_all_times(struct window *w, struct call *c)
{
    if (!window_read(w, c))
        return false;
    if (call_param(c, STR("from")).n == 0)
        w->query.from_ns = INT64_MIN;
    if (call_param(c, STR("to")).n == 0)
        w->query.to_ns = INT64_MAX;
    return true;
}

static void end_reply(struct call *c, struct json *j, enum store_status status,
                      const struct error *err)
{
    json_close(j, ']');
    json_close(j, '}');
    buf_add_char(j->out, '\n');
    if (status == STORE_OK)
        call_json(c);
    else
        call_fail_store(c, status, NULL, err);
}

/* --- services ------------------------------------------------------------- */

struct services {
    struct json json;
    struct buf open; /* the service whose types are being listed */
    bool is_open;
};

static void close_service(struct services *s)
{
    if (!s->is_open)
        return;
    json_close(&s->json, ']');
    json_close(&s->json, '}');
    s->is_open = false;
}

static bool add_type(void *arg, const struct store_count *count)
{
    struct services *s = arg;

    if (!s->is_open || !str_eq(buf_str(&s->open), count->text)) {
        close_service(s);
        buf_clear(&s->open);
        buf_add(&s->open, count->text);
        json_open(&s->json, '{');
        json_key(&s->json, STR("service"));
        json_string(&s->json, count->text);
        json_key(&s->json, STR("types"));
        json_open(&s->json, '[');
        s->is_open = true;
    }
    add_count(&s->json, "type", count->type, count);
    return buf_ok(s->json.out);
}

void query_services(void *request)
{
    struct call *c = request;
    struct services s = {.json = json_start(&c->x->body, 0),
                         .open = arena_buf(c->arena)};
    struct store_budget budget = call_budget(c);
    enum store_status status;
    struct error err;
    struct window w;

    if (!read_all_times(&w, c))
        return;
    json_open(&s.json, '{');
    json_key(&s.json, STR("services"));
    json_open(&s.json, '[');
    status = store_services(c->collector->options.store, &w.query, &budget,
                            add_type, &s, &err);
    close_service(&s);
    end_reply(c, &s.json, status, &err);
    window_release(&w);
}

/* --- labels --------------------------------------------------------------- */

static bool add_name(void *arg, const struct store_count *count)
{
    add_count(arg, "name", count->text, count);
    return buf_ok(((struct json *)arg)->out);
}

static bool add_value(void *arg, const struct store_count *count)
{
    add_count(arg, "value", count->text, count);
    return buf_ok(((struct json *)arg)->out);
}

void query_labels(void *request)
{
    struct call *c = request;
    struct json j = json_start(&c->x->body, 0);
    struct str name = call_param(c, STR("name"));
    struct store_budget budget = call_budget(c);
    struct store *store = c->collector->options.store;
    enum store_status status;
    struct error err;
    struct window w;

    if (!read_all_times(&w, c))
        return;
    json_open(&j, '{');
    json_key(&j, name.n > 0 ? STR("values") : STR("labels"));
    json_open(&j, '[');
    status = name.n > 0 ? store_label_values(store, &w.query, name, &budget,
                                             add_value, &j, &err)
                        : store_label_names(store, &w.query, &budget, add_name,
                                            &j, &err);
    end_reply(c, &j, status, &err);
    window_release(&w);
}
