#include "report/stack/change.h"

#include <assert.h>
#include <math.h>

#include "base/i64.h"

struct amounts stack_amounts(const struct report_stacks *t,
                             const struct stack *s, size_t type)
{
    size_t at = s->row * t->n_types + type;
    struct amounts a = {0};

    /* Samples of the base are negative, and a part of the sum. */
    if (t->has_base)
        a.before = i64_sub(0, t->base.v[at]);
    a.after = i64_add(t->values.v[at], a.before);
    return a;
}

static void add(struct amounts *sum, struct amounts a)
{
    sum->before = i64_add(sum->before, a.before);
    sum->after = i64_add(sum->after, a.after);
}

void changes_find(struct changes *c, struct arena *a,
                  const struct report_stacks *t, size_t type)
{
    size_t *last_stack = arena_new_array(a, size_t, t->names.n);

    *c = (struct changes){.n = t->names.n};
    c->functions = arena_new_array(a, struct function_change, c->n);
    for (size_t i = 0; i < c->n; i++)
        c->functions[i].frame = (uint32_t)i;
    for (size_t i = 0; i < t->stacks.n; i++) {
        const struct stack *s = &t->stacks.v[i];
        const uint32_t *frames = t->frames.v + s->start;
        struct amounts amounts = stack_amounts(t, s, type);

        assert(s->depth > 0);
        add(&c->total, amounts);
        add(&c->functions[frames[s->depth - 1]].own, amounts);
        for (size_t k = 0; k < s->depth; k++) {
            if (last_stack[frames[k]] == i + 1)
                continue; /* recursion: once a stack */
            last_stack[frames[k]] = i + 1;
            add(&c->functions[frames[k]].all, amounts);
        }
    }
}

/* The type that counts samples; types.n if there is none. */
static size_t count_type(const struct profile *p)
{
    size_t i = 0;

    while (i < p->types.n &&
           (!str_eq(profile_str(p, p->types.v[i].type), STR("samples")) ||
            !str_eq(profile_str(p, p->types.v[i].unit), STR("count"))))
        i++;
    return i;
}

/* Over all stacks, of both sides. */
static double sum_of(const struct report_stacks *t, size_t type)
{
    double sum = 0;

    for (size_t i = 0; i < t->stacks.n; i++) {
        struct amounts a = stack_amounts(t, &t->stacks.v[i], type);

        sum += fabs((double)a.before) + fabs((double)a.after);
    }
    return sum;
}

int64_t changes_sample_worth(const struct report_stacks *t,
                             const struct profile *p, size_t type)
{
    size_t counts = count_type(p);
    double samples, worth;

    if (p->period > 0 && str_eq(profile_str(p, p->period_type.unit),
                                profile_str(p, p->types.v[type].unit)))
        return p->period;
    if (counts == p->types.n)
        return 0;
    samples = sum_of(t, counts);
    worth = samples > 0 ? round(sum_of(t, type) / samples) : 0;
    return worth < (double)(INT64_MAX / 2) ? (int64_t)worth : 0;
}
