/*
 * Everything that a list of services shows, in one reply.
 *
 * Three questions to the store, none of which reads samples: the course of
 * the whole range by service, type and version; the last window of it; and
 * the same window some time before.  The store hands points out sorted by
 * service and type, so rows are found by walking along.
 */
#include "collector/query/overview.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/vec.h"
#include "collector/context.h"
#include "collector/query/window.h"

#define MAX_STEPS 500 /* of the course */

struct sum {
    int64_t value, duration_ns;
    uint64_t profiles;
};

struct point {
    int64_t t_ns;
    struct sum sum;
};

struct row {
    struct str service, profile_type, type, unit;
    VEC(struct point) points; /* sorted by time at the end */
    struct sum now, before;
    uint64_t profiles;
    int64_t newest_ns;
    /* The version whose first profile is the newest. */
    struct str version;
    int64_t version_since_ns;
    size_t versions;
};

struct overview {
    struct call *call;
    struct window window;
    int64_t step_ns, window_ns, compare_ns;
    VEC(struct row) rows;
    size_t at;          /* of the row that was used last */
    struct str version; /* of the point before */
};

static void add_to(struct sum *sum, const struct store_point *p)
{
    sum->value += p->sum;
    sum->duration_ns += p->duration_ns;
    sum->profiles += p->profiles;
}

static bool is_of(const struct row *row, const struct store_point *p)
{
    return str_eq(row->service, p->service) &&
           str_eq(row->profile_type, p->profile_type) &&
           str_eq(row->type, p->type) && str_eq(row->unit, p->unit);
}

/* The row of a point; NULL if there is none.  Points come in the order of
 * the rows, but for the versions of one service. */
static struct row *find(struct overview *o, const struct store_point *p)
{
    for (size_t n = 0; n < o->rows.n; n++) {
        size_t i = (o->at + n) % o->rows.n;

        if (is_of(&o->rows.v[i], p)) {
            o->at = i;
            return &o->rows.v[i];
        }
    }
    return NULL;
}

static struct row *add_row(struct overview *o, const struct store_point *p)
{
    struct arena *a = o->call->arena;
    struct row *row = vec_push(a, &o->rows);

    *row = (struct row){.service = arena_str(a, p->service),
                        .profile_type = arena_str(a, p->profile_type),
                        .type = arena_str(a, p->type),
                        .unit = arena_str(a, p->unit),
                        .newest_ns = INT64_MIN,
                        .version_since_ns = INT64_MIN};
    o->at = o->rows.n - 1;
    return row;
}

static bool is_last_row(const struct overview *o, const struct store_point *p)
{
    const struct row *row = o->rows.n > 0 ? &o->rows.v[o->rows.n - 1] : NULL;

    return row && str_eq(row->service, p->service) &&
           str_eq(row->profile_type, p->profile_type);
}

/* A point of another version: its times begin anew. */
static void note_version(struct overview *o, struct row *row,
                         const struct store_point *p)
{
    if (p->group.n == 0)
        return;
    row->versions++;
    if (p->t_ns < row->version_since_ns)
        return;
    row->version = arena_str(o->call->arena, p->group);
    row->version_since_ns = p->t_ns;
}

static struct point *point_at(struct arena *a, struct row *row, int64_t t_ns)
{
    size_t i = row->points.n;

    while (i > 0 && row->points.v[i - 1].t_ns > t_ns)
        i--;
    if (i > 0 && row->points.v[i - 1].t_ns == t_ns)
        return &row->points.v[i - 1];
    vec_push(a, &row->points);
    memmove(&row->points.v[i + 1], &row->points.v[i],
            (row->points.n - 1 - i) * sizeof(row->points.v[0]));
    row->points.v[i] = (struct point){.t_ns = t_ns};
    return &row->points.v[i];
}

static bool add_course(void *arg, const struct store_point *p)
{
    struct overview *o = arg;
    bool known = is_last_row(o, p);
    struct row *row = known ? find(o, p) : NULL;
    bool is_new = !row;

    if (!row)
        row = add_row(o, p);
    if (is_new || !str_eq(o->version, p->group))
        note_version(o, row, p);
    o->version = arena_str(o->call->arena, p->group);
    add_to(&point_at(o->call->arena, row, p->t_ns)->sum, p);
    row->profiles += p->profiles;
    if (row->newest_ns < p->newest_ns)
        row->newest_ns = p->newest_ns;
    return true;
}

static bool add_now(void *arg, const struct store_point *p)
{
    struct row *row = find(arg, p);

    if (row)
        add_to(&row->now, p);
    return true;
}

static bool add_before(void *arg, const struct store_point *p)
{
    struct row *row = find(arg, p);

    if (row)
        add_to(&row->before, p);
    return true;
}

/* --- the three questions -------------------------------------------------- */

static bool ask(struct overview *o, struct store_series *q,
                store_each_point *each)
{
    struct call *c = o->call;
    struct store_budget budget = call_budget(c);
    struct store_progress progress = {0};
    enum store_status status;
    struct error err;

    q->query.matchers = o->window.query.matchers;
    q->query.n_matchers = o->window.query.n_matchers;
    q->values = STORE_CHANGES;
    q->by_service = q->by_type = true;
    o->at = 0;
    status = store_series(c->collector->options.store, q, &budget, each, o,
                          &progress, &err);
    if (status != STORE_OK)
        call_fail_store(c, status, &progress, &err);
    return status == STORE_OK;
}

static bool collect(struct overview *o)
{
    int64_t to = o->window.query.to_ns, from = to - o->window_ns;
    struct store_series course = {.step_ns = o->step_ns,
                                  .group_by = STR("version")};
    struct store_series now = {.query = {.from_ns = from, .to_ns = to}};
    struct store_series before = {.query = {.from_ns = from - o->compare_ns,
                                            .to_ns = to - o->compare_ns}};

    course.query = o->window.query;
    return ask(o, &course, add_course) && ask(o, &now, add_now) &&
           ask(o, &before, add_before);
}

/* --- the reply ------------------------------------------------------------ */

static void add_seconds(struct json *j, int64_t ns)
{
    json_thousandths(j, ns / 1000000);
}

static void add_time(struct json *j, const char *key, int64_t ns)
{
    json_key(j, str_from(key));
    add_seconds(j, ns);
}

static void add_text(struct json *j, const char *key, struct str text)
{
    json_key(j, str_from(key));
    json_string(j, text);
}

static void add_numbers(struct json *j, const struct sum *sum)
{
    json_i64(j, sum->value);
    json_i64(j, (int64_t)sum->profiles);
    add_seconds(j, sum->duration_ns);
}

static void add_sum(struct json *j, const char *key, const struct sum *sum)
{
    json_key(j, str_from(key));
    json_open(j, '[');
    add_numbers(j, sum);
    json_close(j, ']');
}

static void write_row(struct json *j, const struct row *row)
{
    json_open(j, '{');
    add_text(j, "service", row->service);
    add_text(j, "type", row->profile_type);
    add_text(j, "value_type", row->type);
    add_text(j, "unit", row->unit);
    json_key(j, STR("profiles"));
    json_i64(j, (int64_t)row->profiles);
    add_time(j, "last", row->newest_ns);
    if (row->versions > 0) {
        add_text(j, "version", row->version);
        add_time(j, "version_since", row->version_since_ns);
        json_key(j, STR("versions"));
        json_i64(j, (int64_t)row->versions);
    }
    add_sum(j, "now", &row->now);
    add_sum(j, "before", &row->before);
    json_key(j, STR("points"));
    json_open(j, '[');
    for (size_t i = 0; i < row->points.n; i++) {
        json_open(j, '[');
        add_seconds(j, row->points.v[i].t_ns);
        add_numbers(j, &row->points.v[i].sum);
        json_close(j, ']');
    }
    json_close(j, ']');
    json_close(j, '}');
}

static void write_reply(struct overview *o)
{
    struct json j = json_start(&o->call->x->body, 0);

    json_open(&j, '{');
    add_time(&j, "from", o->window.query.from_ns);
    add_time(&j, "to", o->window.query.to_ns);
    add_time(&j, "step", o->step_ns);
    add_time(&j, "window", o->window_ns);
    add_time(&j, "compare", o->compare_ns);
    json_key(&j, STR("rows"));
    json_open(&j, '[');
    for (size_t i = 0; i < o->rows.n; i++)
        write_row(&j, &o->rows.v[i]);
    json_close(&j, ']');
    json_close(&j, '}');
    buf_add_char(j.out, '\n');
    call_json(o->call);
}

static bool read_lengths(struct overview *o)
{
    struct call *c = o->call;
    int64_t length = o->window.query.to_ns - o->window.query.from_ns;

    if (!window_duration(c, STR("window"), HOUR, &o->window_ns) ||
        !window_duration(c, STR("compare"), 7 * DAY, &o->compare_ns) ||
        !window_duration(c, STR("step"), HOUR / 2, &o->step_ns))
        return false;
    if (o->step_ns > 0 && length / o->step_ns <= MAX_STEPS)
        return true;
    call_fail(c, 400,
              "step: the time from `from` to `to` has more than %d steps; "
              "choose a larger step or a shorter time",
              MAX_STEPS);
    return false;
}

void query_overview(void *request)
{
    struct call *c = request;
    struct overview o = {.call = c};

    if (!window_read(&o.window, c))
        return;
    if (call_param(c, STR("from")).n == 0)
        o.window.query.from_ns = o.window.query.to_ns - DAY;
    if (read_lengths(&o) && collect(&o))
        write_reply(&o);
    window_release(&o.window);
}
