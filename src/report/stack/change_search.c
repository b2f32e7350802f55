/*
 * The search works on the sorted stacks: those that share a path are
 * neighbours, so a place is a range of them and no tree is built.  Whether
 * there is one thing to say about a place is decided by comparing its parts
 * with each other and with the noise of sampling; the constants below are the
 * limits.
 */
#include "report/stack/change_search.h"

#include <math.h>
#include <stdlib.h>

#include "base/i64.h"

#define NEARLY_ALL  0.9
#define ALMOST_NONE 0.05 /* of the other side */
#define UNEVEN      0.5  /* of a change: what its parts may deviate */
#define EXPLAINED   0.5  /* of a change: what named parts must carry */
#define SIGMAS      2    /* how far beyond noise a change must be */

struct search {
    struct arena *arena;
    const struct report_stacks *stacks;
    size_t type;
    struct change_limits limits;
    struct changed_paths *out;
    VEC(struct changed_path) open;  /* to be looked into */
    VEC(struct changed_path) parts; /* of the place at hand */
};

static double change_of(const struct changed_path *p)
{
    return (double)amounts_grew(p->amounts);
}

static double size_of(const struct changed_path *p)
{
    return fabs((double)p->amounts.before) + fabs((double)p->amounts.after);
}

static void add_amounts(struct amounts *sum, struct amounts a)
{
    sum->before = i64_add(sum->before, a.before);
    sum->after = i64_add(sum->after, a.after);
}

/* The parts of a place: each callee with all below, and its own cost.  The
 * stacks are sorted, so those of a callee are neighbours. */
static void split(struct search *s, const struct changed_path *p)
{
    const struct report_stacks *t = s->stacks;
    struct changed_path *part = NULL;
    uint32_t callee = NO_INDEX;

    s->parts.n = 0;
    for (size_t i = p->from; i < p->to; i++) {
        const struct stack *stack = &t->stacks.v[i];
        bool own = stack->depth == p->depth;
        uint32_t frame = own ? NO_INDEX : t->frames.v[stack->start + p->depth];

        if (!part || frame != callee) {
            part = vec_push(s->arena, &s->parts);
            *part = (struct changed_path){
                .from = i, .depth = p->depth + !own, .own = own};
            callee = frame;
        }
        part->to = i + 1;
        add_amounts(&part->amounts, stack_amounts(t, stack, s->type));
    }
}

static bool is_worth_naming(const struct search *s,
                            const struct changed_path *p)
{
    double change = fabs(change_of(p));

    return change > 0 && change >= s->limits.least &&
           change >= SIGMAS * sqrt(size_of(p) * s->limits.noise);
}

static bool is_new_or_gone(const struct changed_path *p, double other_share)
{
    double before = fabs((double)p->amounts.before);
    double after = fabs((double)p->amounts.after);

    return before <= after * other_share || after <= before * other_share;
}

/* Returns true if one part is nearly the whole, so that its own parts describe
 * the change better. */
static bool passes_on(const struct search *s, const struct changed_path *p)
{
    for (size_t i = 0; i < s->parts.n; i++)
        if (!s->parts.v[i].own &&
            size_of(&s->parts.v[i]) >= size_of(p) * NEARLY_ALL)
            return true;
    return false;
}

/* The smaller side of a change: what grew is measured by what it was, what
 * shrank by what is left, so that a change and its reverse are described
 * alike. */
static double smaller_side(const struct amounts *a, bool grew)
{
    return (double)(grew ? a->before : a->after);
}

/* Returns true if all parts grew, or shrank, in proportion. */
static bool is_even(const struct search *s, const struct changed_path *p)
{
    bool grew = change_of(p) > 0;
    double rate = change_of(p) / smaller_side(&p->amounts, grew);
    double deviation = 0;

    for (size_t i = 0; i < s->parts.n; i++) {
        const struct changed_path *part = &s->parts.v[i];

        deviation +=
            fabs(change_of(part) - rate * smaller_side(&part->amounts, grew));
    }
    return deviation <= fabs(change_of(p)) * UNEVEN;
}

/* Returns true if one callee carries the change, while the rest changed less
 * than half as fast as the whole.  Then the callee is to be named, even if it
 * is so large that the parts look even: a root that contains everything
 * explains nothing.
 */
static bool is_told_by_one(const struct search *s, const struct changed_path *p)
{
    double change = change_of(p);
    double smaller = smaller_side(&p->amounts, change > 0);

    for (size_t i = 0; i < s->parts.n; i++) {
        const struct changed_path *part = &s->parts.v[i];
        double share = change_of(part) / change;
        double even = smaller_side(&part->amounts, change > 0) / smaller;

        if (!part->own && share >= EXPLAINED &&
            1 - share <= (1 - even) * UNEVEN && is_worth_naming(s, part))
            return true;
    }
    return false;
}

/* Returns true if the parts that are worth naming explain enough of the change.
 * (Opposite changes are a story of their own.) */
static bool is_told_by_parts(const struct search *s,
                             const struct changed_path *p)
{
    double grew = 0, shrank = 0, change = change_of(p);

    for (size_t i = 0; i < s->parts.n; i++) {
        double part = change_of(&s->parts.v[i]);

        if (!is_worth_naming(s, &s->parts.v[i]))
            continue;
        *(part > 0 ? &grew : &shrank) += part;
    }
    if (change > 0 && grew > 0 && -shrank > grew / 2)
        return true;
    if (change < 0 && shrank < 0 && grew > -shrank / 2)
        return true;
    return (change > 0 ? grew : shrank) / change >= EXPLAINED;
}

static bool is_one_story(const struct search *s, const struct changed_path *p)
{
    if (!is_worth_naming(s, p))
        return false;
    if (is_new_or_gone(p, 0))
        return true;
    if (passes_on(s, p) || is_told_by_one(s, p))
        return false;
    return is_new_or_gone(p, ALMOST_NONE) || is_even(s, p) ||
           !is_told_by_parts(s, p);
}

static void look_into(struct search *s, struct changed_path p)
{
    struct changed_paths *out = s->out;

    if (!p.own)
        split(s, &p);
    if (p.own || is_one_story(s, &p)) {
        *vec_push(s->arena, &out->found) = p;
        return;
    }
    for (size_t i = 0; i < s->parts.n; i++) {
        struct changed_path *part = &s->parts.v[i];

        if (is_worth_naming(s, part))
            *vec_push(s->arena, &s->open) = *part;
        else
            add_amounts(amounts_grew(part->amounts) > 0 ? &out->rest_grew
                                                        : &out->rest_shrank,
                        part->amounts);
    }
}

static int compare_places(const void *x, const void *y)
{
    const struct changed_path *a = x, *b = y;
    int64_t ca = amounts_grew(a->amounts), cb = amounts_grew(b->amounts);

    if ((ca > 0) != (cb > 0))
        return ca > 0 ? -1 : 1;
    if (ca != cb)
        return i64_abs(ca) > i64_abs(cb) ? -1 : 1;
    return (a->from > b->from) - (a->from < b->from);
}

void changed_paths_find(struct changed_paths *out, struct arena *a,
                        const struct report_stacks *t, size_t type,
                        struct change_limits limits)
{
    struct search s = {
        .arena = a, .stacks = t, .type = type, .limits = limits, .out = out};
    struct changed_path all = {.to = t->stacks.n};

    *out = (struct changed_paths){0};
    for (size_t i = 0; i < t->stacks.n; i++)
        add_amounts(&all.amounts, stack_amounts(t, &t->stacks.v[i], type));
    *vec_push(a, &s.open) = all;
    while (s.open.n > 0)
        look_into(&s, s.open.v[--s.open.n]);
    if (out->found.n > 0)
        qsort(out->found.v, out->found.n, sizeof(struct changed_path),
              compare_places);
    while (out->n_grew < out->found.n &&
           amounts_grew(out->found.v[out->n_grew].amounts) > 0)
        out->n_grew++;
}
