/*
 * Everything that a list of services shows, in one reply.
 *
 * No samples are read: the store adds up totals by service, type and version.
 * Up to now and for all services, which is what the page asks for, the totals
 * are kept in pieces (pieces.h): closed steps, the minutes of the last window
 * and of the step that is not over, and the window that they are compared
 * with.  A reply then costs what has changed since the one before.
 *
 * Anything else is asked for in two parts, before the last window and in it,
 * so that no profile is looked at twice; then follows the same window some
 * time before.
 */
#include "collector/query/overview.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/map.h"
#include "base/vec.h"
#include "collector/context.h"
#include "collector/query/pieces.h"
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

struct version {
    struct str name;
    int64_t since_ns;
};

struct row {
    struct str service, profile_type, type, unit;
    VEC(struct point) points; /* sorted by time */
    VEC(struct version) versions;
    struct sum now, before;
    uint64_t profiles;
    int64_t newest_ns;
};

struct overview {
    struct call *call;
    struct window window;
    int64_t step_ns, window_ns, compare_ns;
    VEC(struct row) rows;
    struct map index; /* of rows, by the texts of a row */
    size_t at;        /* of the row that was used last */
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

static uint64_t hash_of(const struct overview *o, const struct store_point *p)
{
    uint64_t h = str_hash_seeded(p->service, o->index.seed);

    h = str_hash_seeded(p->profile_type, h);
    return str_hash_seeded(p->unit, str_hash_seeded(p->type, h));
}

/* The row of a point; NULL if there is none, and `c` is where it would be. */
static struct row *find(struct overview *o, const struct store_point *p,
                        struct map_cursor *c)
{
    /* Points of a row come one after another, and rows mostly in the same
     * order. */
    for (size_t i = o->at; i < o->rows.n && i < o->at + 2; i++)
        if (is_of(&o->rows.v[i], p)) {
            o->at = i;
            return &o->rows.v[i];
        }
    *c = map_find(&o->index, hash_of(o, p));
    while (map_next(&o->index, c))
        if (is_of(&o->rows.v[c->record], p)) {
            o->at = c->record;
            return &o->rows.v[o->at];
        }
    return NULL;
}

static struct row *find_or_add(struct overview *o, const struct store_point *p)
{
    struct arena *a = o->call->arena;
    struct map_cursor c;
    struct row *row = find(o, p, &c);

    if (row)
        return row;
    o->at = o->rows.n;
    map_add(&o->index, &c, (uint32_t)o->at);
    row = vec_push(a, &o->rows);
    *row = (struct row){.service = arena_str(a, p->service),
                        .profile_type = arena_str(a, p->profile_type),
                        .type = arena_str(a, p->type),
                        .unit = arena_str(a, p->unit),
                        .newest_ns = INT64_MIN};
    return row;
}

static void note_version(struct arena *a, struct row *row, struct str name,
                         int64_t t_ns)
{
    if (name.n == 0)
        return;
    /* The version of the point before is the last one. */
    for (size_t i = row->versions.n; i-- > 0;) {
        struct version *v = &row->versions.v[i];

        if (str_eq(v->name, name)) {
            if (t_ns < v->since_ns)
                v->since_ns = t_ns;
            return;
        }
    }
    *vec_push(a, &row->versions) = (struct version){arena_str(a, name), t_ns};
}

/* The version whose first profile is the newest; NULL without versions. */
static const struct version *newest_version(const struct row *row)
{
    const struct version *newest = NULL;

    for (size_t i = 0; i < row->versions.n; i++)
        if (!newest || row->versions.v[i].since_ns >= newest->since_ns)
            newest = &row->versions.v[i];
    return newest;
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

static int64_t round_down(int64_t ns, int64_t step_ns)
{
    int64_t into = ns % step_ns;

    return ns - into - (into < 0 ? step_ns : 0);
}

static bool add_course(void *arg, const struct store_point *p)
{
    struct overview *o = arg;
    struct row *row = find_or_add(o, p);
    int64_t t_ns = round_down(p->t_ns, o->step_ns);

    note_version(o->call->arena, row, p->group, t_ns);
    add_to(&point_at(o->call->arena, row, t_ns)->sum, p);
    row->profiles += p->profiles;
    if (row->newest_ns < p->newest_ns)
        row->newest_ns = p->newest_ns;
    return true;
}

static bool add_now(void *arg, const struct store_point *p)
{
    struct map_cursor c;
    struct row *row = find(arg, p, &c);

    if (row)
        add_to(&row->now, p);
    return true;
}

static bool add_both(void *arg, const struct store_point *p)
{
    return add_course(arg, p) && add_now(arg, p);
}

static bool add_before(void *arg, const struct store_point *p)
{
    struct map_cursor c;
    struct row *row = find(arg, p, &c);

    if (row)
        add_to(&row->before, p);
    return true;
}

/* --- the questions -------------------------------------------------------- */

/* Nothing to ask where the time is empty. */
static bool ask(struct overview *o, int64_t from_ns, int64_t to_ns,
                int64_t step_ns, store_each_point *each)
{
    struct call *c = o->call;
    struct store_budget budget = call_budget(c);
    struct store_progress progress = {0};
    struct store_series q = {.query = o->window.query,
                             .step_ns = step_ns,
                             .by_service = true,
                             .by_type = true,
                             .values = STORE_CHANGES};
    enum store_status status;
    struct error err;

    if (from_ns >= to_ns)
        return true;
    q.query.from_ns = from_ns;
    q.query.to_ns = to_ns;
    if (step_ns > 0)
        q.group_by = STR("version");
    o->at = 0;
    status = store_series(c->collector->options.store, &q, &budget, each, o,
                          &progress, &err);
    if (status != STORE_OK)
        call_fail_store(c, status, &progress, &err);
    return status == STORE_OK;
}

static int compare_rows(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    int order = str_cmp(x->service, y->service);

    if (order == 0)
        order = str_cmp(x->profile_type, y->profile_type);
    if (order == 0)
        order = str_cmp(x->type, y->type);
    return order != 0 ? order : str_cmp(x->unit, y->unit);
}

static bool ask_for_all(struct overview *o)
{
    int64_t from = o->window.query.from_ns, to = o->window.query.to_ns;
    int64_t now = to - o->window_ns, recent = now > from ? now : from;

    return ask(o, from, recent, o->step_ns, add_course) &&
           ask(o, recent, to, o->step_ns, add_both) &&
           ask(o, now, recent, 0, add_now) &&
           ask(o, now - o->compare_ns, to - o->compare_ns, 0, add_before);
}

/* --- pieces --------------------------------------------------------------- */

/* Returns true if steps can be composed of hours and minutes. */
static bool has_parts(int64_t step_ns)
{
    return step_ns <= DAY && step_ns % (step_ns > HOUR ? HOUR : MINUTE) == 0;
}

/* Only what many ask for again and again, and only where the store knows what
 * has changed. */
static bool has_pieces(const struct overview *o)
{
    return call_param(o->call, STR("to")).n == 0 &&
           o->window.query.n_matchers == 0 && has_parts(o->step_ns) &&
           o->window_ns > 0 && o->window_ns % MINUTE == 0 &&
           o->window_ns <= HOUR && o->compare_ns % MINUTE == 0 &&
           store_changes(o->call->collector->options.store, 0, 0) != 0;
}

/* Whole steps from the first one on, and the minute that is not over. */
static void round_range(struct overview *o)
{
    struct store_query *q = &o->window.query;

    q->from_ns = round_down(q->from_ns, o->step_ns);
    q->to_ns = round_down(q->to_ns, MINUTE) + MINUTE;
}

static bool take(struct overview *o, int64_t from_ns, int64_t to_ns,
                 int64_t step_ns, store_each_point *each)
{
    struct pieces_range range = {
        .from_ns = from_ns,
        .to_ns = to_ns,
        .length_ns = step_ns ? step_ns : to_ns - from_ns,
        .step_ns = step_ns,
        .group_by = step_ns ? STR("version") : STR("")};

    o->at = 0;
    return pieces_each(o->call->collector->pieces, o->call, &range, each, o);
}

static bool take_all(struct overview *o)
{
    struct pieces *pieces = o->call->collector->pieces;
    int64_t from = o->window.query.from_ns, to = o->window.query.to_ns;
    int64_t now = to - o->window_ns;
    int64_t open = round_down(to - 1, o->step_ns);
    int64_t minutes = o->step_ns > HOUR ? round_down(to - 1, HOUR) : open;
    bool ok;

    pieces_begin(pieces);
    ok = take(o, from, open, o->step_ns, add_course) &&
         take(o, open, minutes, HOUR, add_course) &&
         take(o, minutes, to, MINUTE, add_course) &&
         take(o, now, to, MINUTE, add_now) &&
         take(o, now - o->compare_ns, to - o->compare_ns, 0, add_before);
    pieces_end(pieces, o->call->now_ns);
    return ok;
}

static bool collect(struct overview *o)
{
    bool in_pieces = has_pieces(o);

    map_init(&o->index, o->call->arena, 0);
    if (in_pieces)
        round_range(o);
    if (in_pieces ? !take_all(o) : !ask_for_all(o))
        return false;
    if (o->rows.n > 0)
        qsort(o->rows.v, o->rows.n, sizeof(o->rows.v[0]), compare_rows);
    return true;
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
    const struct version *version = newest_version(row);

    json_open(j, '{');
    add_text(j, "service", row->service);
    add_text(j, "type", row->profile_type);
    add_text(j, "value_type", row->type);
    add_text(j, "unit", row->unit);
    json_key(j, STR("profiles"));
    json_i64(j, (int64_t)row->profiles);
    add_time(j, "last", row->newest_ns);
    if (version) {
        add_text(j, "version", version->name);
        add_time(j, "version_since", version->since_ns);
        json_key(j, STR("versions"));
        json_i64(j, (int64_t)row->versions.n);
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
