/*
 * Numeric labels of a node become at most MAX_BOXES boxes: the heaviest values
 * are the heads, and every other value joins the head that is nearest to it.
 * The grouping is google/pprof's, so that pictures have the same boxes.
 */
#include "report/graph/tag_boxes.h"

#include <math.h>
#include <stdlib.h>

#include "base/i64.h"
#include "base/number.h"

#define MAX_BOXES 4

/* A tag as a box shows it: one of the graph, or a group of them. */
struct box {
    struct str name;
    int64_t flat, flat_div, cum, cum_div;
    int64_t value;
};

struct boxes {
    VEC(struct box) v;
};

struct maker {
    const struct graph *graph;
    struct arena *arena; /* of the caller */
    struct tag_boxes *out;
    bool flat; /* show flat costs */
};

static int64_t box_flat(const struct box *b)
{
    return b->flat_div ? i64_div(b->flat, b->flat_div) : b->flat;
}

static int64_t box_cum(const struct box *b)
{
    return b->cum_div ? i64_div(b->cum, b->cum_div) : b->cum;
}

/* Larger absolute values first, +w before -w. */
static int compare_weight(int64_t a, int64_t b)
{
    int64_t abs_a = i64_abs(a), abs_b = i64_abs(b);

    if (abs_a != abs_b)
        return (abs_a < abs_b) - (abs_a > abs_b);
    return (a < b) - (a > b);
}

static int compare_boxes(const void *pa, const void *pb, void *arg)
{
    const struct box *a = pa, *b = pb;
    const struct maker *m = arg;
    int c = m->flat ? 0 : compare_weight(a->cum, b->cum);

    if (c == 0)
        c = compare_weight(a->flat, b->flat);
    return c ? c : str_cmp(a->name, b->name);
}

static void sort(struct maker *m, struct boxes *b)
{
    if (b->v.n > 1)
        qsort_r(b->v.v, b->v.n, sizeof(*b->v.v), compare_boxes, m);
}

static struct box box_of(const struct graph *g, const struct tag *t)
{
    return (struct box){
        .name =
            profile_str(g->tags.profile, t->is_numeric ? t->name : t->label),
        .flat = t->flat,
        .flat_div = t->flat_div,
        .cum = t->cum,
        .cum_div = t->cum_div,
        .value = t->value,
    };
}

/* The label tags of a node, or the numeric ones below one label. */
static struct boxes collect(struct maker *m, uint32_t node, bool numeric,
                            struct str label)
{
    const struct node_tags *tags = &m->graph->tags;
    struct boxes found = {{0}};

    for (size_t i = tags->start[node]; i < tags->start[node + 1]; i++) {
        const struct tag *t = &tags->all.v[tags->of_node[i]];

        if (t->removed || t->is_numeric != numeric ||
            (numeric && !str_eq(profile_str(tags->profile, t->label), label)))
            continue;
        *vec_push(m->arena, &found.v) = box_of(m->graph, t);
    }
    sort(m, &found);
    return found;
}

static double in_own_unit(const struct maker *m, int64_t value)
{
    struct str unit = m->graph->tags.unit, ignored;

    return measure_scale(value, unit, unit, &ignored);
}

/* The group whose head is nearest to the value. */
static size_t nearest(const struct maker *m, const struct box *heads,
                      const struct box *b)
{
    double best = 0;
    size_t at = 0;

    for (size_t i = 0; i < MAX_BOXES; i++) {
        double distance =
            fabs(in_own_unit(m, heads[i].value) - (double)b->value);

        if (i == 0 || distance < best) {
            best = distance;
            at = i;
        }
    }
    return at;
}

static void add_label(const struct maker *m, struct buf *out, int64_t value)
{
    measure_label(out, value, m->graph->tags.unit, STR("auto"));
}

/* One box for a group: its range and its sums. */
static struct box join(struct maker *m, const struct boxes *group)
{
    const struct box *first = &group->v.v[0], *min = first, *max = first;
    struct buf name = arena_buf(m->arena);
    struct box sum = *first, joined = {0};

    for (size_t i = 1; i < group->v.n; i++) {
        const struct box *b = &group->v.v[i];
        int64_t value = number_trunc(in_own_unit(m, b->value));

        if (value < min->value)
            min = b;
        if (value > max->value)
            max = b;
        sum.flat = i64_add(sum.flat, b->flat);
        sum.flat_div = i64_add(sum.flat_div, b->flat_div);
        sum.cum = i64_add(sum.cum, b->cum);
        sum.cum_div = i64_add(sum.cum_div, b->cum_div);
    }
    add_label(m, &name, min->value);
    if (group->v.n > 1) {
        buf_add(&name, STR(".."));
        add_label(m, &name, max->value);
    }
    joined.name = arena_str(m->arena, buf_str(&name));
    joined.flat = box_flat(&sum);
    joined.cum = box_cum(&sum);
    buf_release(&name);
    return joined;
}

/* At most MAX_BOXES: the heaviest become heads, the others join the head
 * that is nearest in value. */
static struct boxes collapse(struct maker *m, struct boxes all)
{
    struct boxes groups[MAX_BOXES] = {0}, out = {{0}};

    if (all.v.n <= MAX_BOXES)
        return all;
    for (size_t i = 0; i < all.v.n; i++) {
        const struct box *b = &all.v.v[i];
        size_t g = i < MAX_BOXES ? i : nearest(m, all.v.v, b);

        *vec_push(m->arena, &groups[g].v) = *b;
    }
    for (size_t i = 0; i < MAX_BOXES; i++)
        *vec_push(m->arena, &out.v) = join(m, &groups[i]);
    sort(m, &out);
    return out;
}

static void add_numeric(struct maker *m, uint32_t node, struct str label,
                        uint32_t parent)
{
    struct boxes b = collapse(m, collect(m, node, true, label));

    for (size_t i = 0; i < b.v.n; i++) {
        const struct box *box = &b.v.v[i];
        int64_t flat = box_flat(box), cum = box_cum(box);
        bool dotted = !m->flat && flat != cum;
        int64_t weight = dotted ? cum : flat;

        if (weight != 0)
            *vec_push(m->arena, &m->out->list) =
                (struct tag_box){.name = box->name,
                                 .weight = weight,
                                 .parent = parent,
                                 .number = i,
                                 .is_numeric = true,
                                 .dotted = dotted};
    }
}

static bool has_calls(const struct graph *g, uint32_t node)
{
    const struct edges *e = &g->edges;

    for (size_t i = e->out_start[node]; i < e->out_start[node + 1]; i++)
        if (!e->all.v[e->out[i]].removed)
            return true;
    return false;
}

void tag_boxes_make(struct tag_boxes *out, struct arena *a,
                    const struct graph *g, uint32_t node)
{
    struct maker m = {.graph = g, .arena = a, .out = out};
    struct boxes labels;

    out->list.n = 0;
    if (g->tags.start[node] == g->tags.start[node + 1])
        return;
    m.flat = has_calls(g, node);
    labels = collect(&m, node, false, STR(""));
    for (size_t i = 0; i < labels.v.n && i < MAX_BOXES; i++) {
        const struct box *b = &labels.v.v[i];
        int64_t weight = m.flat ? box_flat(b) : box_cum(b);
        uint32_t at = (uint32_t)out->list.n;

        if (weight == 0)
            continue;
        *vec_push(a, &out->list) = (struct tag_box){
            .name = b->name, .weight = weight, .parent = NO_INDEX, .number = i};
        add_numeric(&m, node, b->name, at);
    }
    add_numeric(&m, node, STR(""), NO_INDEX);
}
