/*
 * -explain: what got slower and faster since the base, in plain words.
 *
 * First the places in the call tree where it happened (see change_search.h),
 * each with its share of all that got slower, or faster.  Then the functions
 * whose own cost changed most, wherever they are called from: what a slower
 * allocator looks like, for example, which no single place can show.
 */
#include <math.h>
#include <stdlib.h>

#include "base/i64.h"
#include "base/utf8.h"
#include "report/stack/change_search.h"

#define SHOWN_PLACES    10 /* of each list, unless nodecount says */
#define SHOWN_FUNCTIONS 5
#define PATH_HEAD       2 /* frames shown of a long path: the first … */
#define PATH_TAIL       5 /* … and the last */
#define INDENT          "                          "
#define RED             "\033[31m"
#define GREEN           "\033[32m"
#define BOLD            "\033[1m"
#define PLAIN           "\033[0m"

struct explainer {
    const struct report *report;
    const struct report_stacks *stacks;
    struct changes changes;
    struct changed_paths places;
    struct buf *out;
    bool is_time;
};

static void paint(const struct explainer *e, const char *code)
{
    if (e->report->request->colour)
        buf_add(e->out, str_from(code));
}

static void add_signed(const struct explainer *e, int64_t value)
{
    if (value > 0)
        buf_add_char(e->out, '+');
    report_add_value(e->report, e->out, value);
}

/* The same in colour, aligned to the right. */
static void add_change(const struct explainer *e, int64_t value, size_t width)
{
    size_t start;

    paint(e, value > 0 ? RED : GREEN);
    start = e->out->len;
    add_signed(e, value);
    buf_align_right(e->out, start, width);
    paint(e, PLAIN);
}

static void add_heading(const struct explainer *e, const char *text)
{
    buf_add_char(e->out, '\n');
    paint(e, BOLD);
    buf_add(e->out, str_from(text));
    paint(e, PLAIN);
}

static double percent(int64_t part, int64_t whole)
{
    return whole != 0 ? (double)part * 100 / (double)whole : 0;
}

/* "2.67s → 3.20s", or that one of them is nothing. */
static void add_amounts(const struct explainer *e, struct amounts a)
{
    if (a.before == 0) {
        buf_add(e->out, STR("new"));
    } else if (a.after == 0) {
        buf_add(e->out, STR("gone"));
    } else {
        report_add_value(e->report, e->out, a.before);
        buf_add(e->out, STR(" → "));
        report_add_value(e->report, e->out, a.after);
    }
}

static struct str frame_name(const struct explainer *e, uint32_t frame)
{
    return e->stacks->names.v[frame].name;
}

/* Names from the root, "main → … → work"; recursion once, with a count. */
static void add_path(const struct explainer *e, const uint32_t *frames,
                     size_t n)
{
    size_t distinct = 0, shown = 0;

    for (size_t i = 0; i < n; i++)
        distinct += i == 0 || frames[i] != frames[i - 1];
    for (size_t i = 0, end; i < n; i = end, shown++) {
        for (end = i + 1; end < n && frames[end] == frames[i];)
            end++;
        if (distinct > PATH_HEAD + PATH_TAIL + 1) {
            if (shown == PATH_HEAD)
                buf_add(e->out, STR(" → …"));
            if (shown >= PATH_HEAD && shown < distinct - PATH_TAIL)
                continue;
        }
        if (shown > 0)
            buf_add(e->out, STR(" → "));
        buf_add(e->out, frame_name(e, frames[i]));
        if (end - i > 1)
            buf_addf(e->out, " ×%zu", end - i);
    }
}

static void add_place(const struct explainer *e, size_t rank,
                      const struct changed_path *p, int64_t sum)
{
    const struct report_stacks *t = e->stacks;
    const uint32_t *path = t->frames.v + t->stacks.v[p->from].start;
    int64_t change = amounts_grew(p->amounts);

    buf_addf(e->out, "%4zu. ", rank);
    add_change(e, change, 10);
    buf_addf(e->out, " %6.1f%%  ", percent(change, sum));
    paint(e, BOLD);
    buf_add(e->out, p->depth == 0 ? STR("everything, in proportion")
                                  : frame_name(e, path[p->depth - 1]));
    paint(e, PLAIN);
    if (p->own)
        buf_add(e->out, STR(" itself"));
    buf_add(e->out, STR(": "));
    add_amounts(e, p->amounts);
    buf_add_char(e->out, '\n');
    if (p->depth < 2)
        return;
    buf_add(e->out, STR(INDENT "in "));
    add_path(e, path, p->depth);
    buf_add_char(e->out, '\n');
}

/* As many as nodecount says; all without trimming. */
static size_t how_many(const struct explainer *e, size_t n, size_t usual)
{
    const struct report_config *c = &e->report->config;
    size_t max = c->nodecount > 0 ? (size_t)c->nodecount : usual;

    return !c->trim || n < max ? n : max;
}

static void add_rest(const struct explainer *e, size_t n, int64_t rest)
{
    if (rest == 0)
        return;
    buf_add_pad(e->out, ' ', 6);
    add_change(e, rest, 10);
    buf_add(e->out, STR("          "));
    if (n > 0)
        buf_addf(e->out, "in %zu more place%s, and ", n, n == 1 ? "" : "s");
    buf_add(e->out, STR("in what is too small to name\n"));
}

static void add_places(const struct explainer *e, bool grew)
{
    const struct changed_paths *all = &e->places;
    size_t first = grew ? 0 : all->n_grew;
    size_t n = grew ? all->n_grew : all->found.n - all->n_grew;
    size_t shown = how_many(e, n, SHOWN_PLACES);
    int64_t rest = amounts_grew(grew ? all->rest_grew : all->rest_shrank);
    int64_t sum = rest;

    for (size_t i = 0; i < n; i++) {
        sum = i64_add(sum, amounts_grew(all->found.v[first + i].amounts));
        if (i >= shown)
            rest = i64_add(rest, amounts_grew(all->found.v[first + i].amounts));
    }
    if (n == 0)
        return;
    add_heading(e, e->is_time ? (grew ? "Slower" : "Faster")
                              : (grew ? "More" : "Less"));
    buf_add(e->out, STR(" by "));
    report_add_value(e->report, e->out, i64_abs(sum));
    buf_add_char(e->out, '\n');
    for (size_t i = 0; i < shown; i++)
        add_place(e, i + 1, &all->found.v[first + i], sum);
    add_rest(e, n - shown, rest);
}

static int compare_own(const void *x, const void *y)
{
    const struct function_change *a = x, *b = y;
    int64_t ga = i64_abs(amounts_grew(a->own));
    int64_t gb = i64_abs(amounts_grew(b->own));

    if (ga != gb)
        return ga > gb ? -1 : 1;
    return (a->frame > b->frame) - (a->frame < b->frame);
}

static void add_functions(const struct explainer *e)
{
    struct changes c = e->changes;
    size_t shown = how_many(e, c.n, SHOWN_FUNCTIONS);

    if (c.n > 0)
        qsort(c.functions, c.n, sizeof(*c.functions), compare_own);
    if (c.n == 0 || amounts_grew(c.functions[0].own) == 0)
        return;
    add_heading(e, "Functions whose own cost changed most\n");
    for (size_t i = 0; i < shown; i++) {
        const struct function_change *f = &c.functions[i];

        if (amounts_grew(f->own) == 0)
            return;
        buf_add_pad(e->out, ' ', 6);
        add_change(e, amounts_grew(f->own), 10);
        buf_add_pad(e->out, ' ', 10);
        buf_add(e->out, frame_name(e, f->frame));
        buf_add(e->out, STR(": "));
        report_add_value(e->report, e->out, f->own.before);
        buf_add(e->out, STR(" → "));
        report_add_value(e->report, e->out, f->own.after);
        buf_addf(e->out, ", %.1f%% → %.1f%% of the total\n",
                 percent(f->own.before, c.total.before),
                 percent(f->own.after, c.total.after));
    }
}

static void add_summary(const struct explainer *e)
{
    const struct amounts total = e->changes.total;
    int64_t change = amounts_grew(total);

    paint(e, BOLD);
    buf_add(e->out, e->report->sample_type);
    paint(e, PLAIN);
    buf_add(e->out, STR(": "));
    report_add_value(e->report, e->out, total.before);
    buf_add(e->out, STR(" before, "));
    report_add_value(e->report, e->out, total.after);
    buf_add(e->out, STR(" after"));
    if (change != 0) {
        buf_add(e->out, STR(": "));
        add_change(e, change, 0);
        if (total.before != 0)
            buf_addf(e->out, " (%+.2f%%)", percent(change, total.before));
    }
    buf_add_char(e->out, '\n');
    if (e->places.found.n == 0)
        buf_add(e->out, STR("No place changed by more than chance and "
                            "-nodefraction allow.\n"));
}

/*
 * A sampled value of n periods varies by itself as counts do, by the square
 * root of n.
 */
static struct change_limits limits_of(const struct explainer *e)
{
    const struct report *r = e->report;
    double before = fabs((double)e->changes.total.before);
    double after = fabs((double)e->changes.total.after);
    struct change_limits limits = {.least = fmax(before, after) *
                                            r->config.nodefraction};

    limits.noise =
        (double)changes_sample_worth(e->stacks, r->profile, r->value_index);
    return limits;
}

bool format_explain(struct report *r, struct buf *out, struct error *err)
{
    struct report_stacks t;
    struct explainer e = {.report = r,
                          .stacks = &t,
                          .out = out,
                          .is_time = measure_is_time(r->sample_unit)};

    report_stacks_make(&t, r);
    if (!t.has_base)
        return error_set(err, "explain compares with a base profile: give one "
                              "with -diff_base");
    changes_find(&e.changes, r->arena, &t, r->value_index);
    changed_paths_find(&e.places, r->arena, &t, r->value_index, limits_of(&e));
    add_summary(&e);
    add_places(&e, true);
    add_places(&e, false);
    add_functions(&e);
    return true;
}
