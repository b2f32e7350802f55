/*
 * Points are written as they come from the store, grouped by the group that
 * they belong to: the store delivers one group after another.
 */
#include "collector/query/series.h"

#include "base/clock.h"
#include "base/json.h"
#include "collector/context.h"
#include "collector/query/window.h"

#define MAX_POINTS 11000 /* of one group, as in Prometheus */

/* The step that gives about a hundred points, rounded up to one that fits a
 * clock. */
static int64_t default_step(const struct window *w)
{
    static const int seconds[] = {1,   5,    10,   15,   30,    60,    300,
                                  600, 1800, 3600, 7200, 21600, 43200, 86400};
    uint64_t length = (uint64_t)w->query.to_ns - (uint64_t)w->query.from_ns;
    size_t n = sizeof(seconds) / sizeof(seconds[0]);

    for (size_t i = 0; i < n; i++)
        if ((uint64_t)seconds[i] * SECOND * 100 >= length)
            return seconds[i] * SECOND;
    return (int64_t)(length / (100 * 86400 * (uint64_t)SECOND) + 1) * 86400 *
           SECOND;
}

static bool read_step(struct call *c, const struct window *w, int64_t *out)
{
    uint64_t length = (uint64_t)w->query.to_ns - (uint64_t)w->query.from_ns;

    if (!window_duration(c, STR("step"), default_step(w), out))
        return false;
    if (*out > 0 && length / (uint64_t)*out <= MAX_POINTS)
        return true;
    call_fail(c, 400,
              "step: the time from `from` to `to` has more than %d steps; "
              "choose a larger step or a shorter time",
              MAX_POINTS);
    return false;
}

static void add_seconds(struct json *j, int64_t ns)
{
    json_thousandths(j, ns / 1000000);
}

/* --- totals --------------------------------------------------------------- */

struct points {
    struct json json;
    struct buf group; /* the open one */
    bool is_open;
};

static void close_group(struct points *p)
{
    if (!p->is_open)
        return;
    json_close(&p->json, ']');
    json_close(&p->json, '}');
    p->is_open = false;
}

/* Of the two, `by` asks for one at most. */
static struct str group_of(const struct store_point *point)
{
    return point->service.n > 0 ? point->service : point->group;
}

static void open_group(struct points *p, const struct store_point *point)
{
    close_group(p);
    buf_clear(&p->group);
    buf_add(&p->group, group_of(point));
    json_open(&p->json, '{');
    json_key(&p->json, STR("group"));
    json_string(&p->json, group_of(point));
    json_key(&p->json, STR("type"));
    json_string(&p->json, point->type);
    json_key(&p->json, STR("unit"));
    json_string(&p->json, point->unit);
    json_key(&p->json, STR("points"));
    json_open(&p->json, '[');
    p->is_open = true;
}

/* [time, value, profiles, seconds of profiles] */
static bool add_point(void *arg, const struct store_point *point)
{
    struct points *p = arg;

    if (!p->is_open || !str_eq(buf_str(&p->group), group_of(point)))
        open_group(p, point);
    json_open(&p->json, '[');
    add_seconds(&p->json, point->t_ns);
    json_i64(&p->json, point->sum);
    json_i64(&p->json, (int64_t)point->profiles);
    add_seconds(&p->json, point->duration_ns);
    json_close(&p->json, ']');
    return buf_ok(p->json.out);
}

static void begin_reply(struct json *j, const struct window *w, int64_t step)
{
    json_open(j, '{');
    json_key(j, STR("from"));
    add_seconds(j, w->query.from_ns);
    json_key(j, STR("to"));
    add_seconds(j, w->query.to_ns);
    json_key(j, STR("step"));
    add_seconds(j, step);
}

void query_series(void *request)
{
    struct call *c = request;
    struct points p = {.json = json_start(&c->x->body, 0),
                       .group = arena_buf(c->arena)};
    struct str by = call_param(c, STR("by"));
    struct store_budget budget = call_budget(c);
    struct store_progress progress = {0};
    struct store_series q = {.value_type = call_param(c, STR("value_type"))};
    enum store_status status;
    struct error err;
    struct window w;

    if (!window_read(&w, c))
        return;
    if (read_step(c, &w, &q.step_ns)) {
        q.query = w.query;
        q.values = w.values;
        q.by_service = str_eq(by, STR("service"));
        q.group_by = q.by_service ? STR("") : by;
        begin_reply(&p.json, &w, q.step_ns);
        json_key(&p.json, STR("groups"));
        json_open(&p.json, '[');
        status = store_series(c->collector->options.store, &q, &budget,
                              add_point, &p, &progress, &err);
        close_group(&p);
        json_close(&p.json, ']');
        json_close(&p.json, '}');
        buf_add_char(p.json.out, '\n');
        if (status == STORE_OK)
            call_json(c);
        else
            call_fail_store(c, status, &progress, &err);
    }
    window_release(&w);
}

/* --- one function --------------------------------------------------------- */

/* [time, flat, cum, total, profiles] */
static bool add_function_point(void *arg, const struct store_function_point *p)
{
    struct json *j = arg;

    json_open(j, '[');
    add_seconds(j, p->t_ns);
    json_i64(j, p->flat);
    json_i64(j, p->cum);
    json_i64(j, p->total);
    json_i64(j, (int64_t)p->profiles);
    json_close(j, ']');
    return buf_ok(j->out);
}

void query_function(void *request)
{
    struct call *c = request;
    struct json j = json_start(&c->x->body, 0);
    struct store_budget budget = call_budget(c);
    struct store_progress progress = {0};
    struct store_function q = {.name = call_param(c, STR("name")),
                               .value_type = call_param(c, STR("value_type"))};
    enum store_status status;
    struct error err;
    struct window w;

    if (q.name.n == 0) {
        call_fail(c, 400, "name: give the name of a function");
        return;
    }
    if (!window_read(&w, c))
        return;
    if (read_step(c, &w, &q.step_ns)) {
        q.query = w.query;
        q.values = w.values;
        begin_reply(&j, &w, q.step_ns);
        json_key(&j, STR("name"));
        json_string(&j, q.name);
        json_key(&j, STR("points"));
        json_open(&j, '[');
        status = store_function(c->collector->options.store, &q, &budget,
                                add_function_point, &j, &progress, &err);
        json_close(&j, ']');
        json_close(&j, '}');
        buf_add_char(j.out, '\n');
        if (status == STORE_OK)
            call_json(c);
        else
            call_fail_store(c, status, &progress, &err);
    }
    window_release(&w);
}
