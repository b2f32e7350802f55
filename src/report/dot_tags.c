#include "report/dot_tags.h"

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

struct writer {
    const struct graph *graph;
    struct arena *arena; /* for this node's boxes */
    struct buf *out;
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
    const struct writer *w = arg;
    int c = w->flat ? 0 : compare_weight(a->cum, b->cum);

    if (c == 0)
        c = compare_weight(a->flat, b->flat);
    return c ? c : str_cmp(a->name, b->name);
}

static void sort(struct writer *w, struct boxes *b)
{
    if (b->v.n > 1)
        qsort_r(b->v.v, b->v.n, sizeof(*b->v.v), compare_boxes, w);
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
static struct boxes collect(struct writer *w, uint32_t node, bool numeric,
                            struct str label)
{
    const struct node_tags *tags = &w->graph->tags;
    struct boxes found = {{0}};

    for (size_t i = tags->start[node]; i < tags->start[node + 1]; i++) {
        const struct tag *t = &tags->all.v[tags->of_node[i]];

        if (t->removed || t->is_numeric != numeric ||
            (numeric && !str_eq(profile_str(tags->profile, t->label), label)))
            continue;
        *vec_push(w->arena, &found.v) = box_of(w->graph, t);
    }
    sort(w, &found);
    return found;
}

static double in_own_unit(const struct writer *w, int64_t value)
{
    struct str unit = w->graph->tags.unit, ignored;

    return measure_scale(value, unit, unit, &ignored);
}

/* The group whose head is nearest to the value. */
static size_t nearest(const struct writer *w, const struct box *heads,
                      const struct box *b)
{
    double best = 0;
    size_t at = 0;

    for (size_t i = 0; i < MAX_BOXES; i++) {
        double distance =
            fabs(in_own_unit(w, heads[i].value) - (double)b->value);

        if (i == 0 || distance < best) {
            best = distance;
            at = i;
        }
    }
    return at;
}

static void add_label(const struct writer *w, struct buf *out, int64_t value)
{
    measure_label(out, value, w->graph->tags.unit, STR("auto"));
}

/* One box for a group: its range and its sums. */
static struct box join(struct writer *w, const struct boxes *group)
{
    const struct box *first = &group->v.v[0], *min = first, *max = first;
    struct buf name = BUF_INIT(BUF_NO_LIMIT);
    struct box sum = *first, joined = {0};

    for (size_t i = 1; i < group->v.n; i++) {
        const struct box *b = &group->v.v[i];
        int64_t value = number_trunc(in_own_unit(w, b->value));

        if (value < min->value)
            min = b;
        if (value > max->value)
            max = b;
        sum.flat = i64_add(sum.flat, b->flat);
        sum.flat_div = i64_add(sum.flat_div, b->flat_div);
        sum.cum = i64_add(sum.cum, b->cum);
        sum.cum_div = i64_add(sum.cum_div, b->cum_div);
    }
    add_label(w, &name, min->value);
    if (group->v.n > 1) {
        buf_add(&name, STR(".."));
        add_label(w, &name, max->value);
    }
    joined.name = arena_str(w->arena, buf_str(&name));
    joined.flat = box_flat(&sum);
    joined.cum = box_cum(&sum);
    buf_release(&name);
    return joined;
}

/* At most MAX_BOXES: the heaviest become heads, the others join the head
 * that is nearest in value. */
static struct boxes collapse(struct writer *w, struct boxes all)
{
    struct boxes groups[MAX_BOXES] = {0}, out = {{0}};

    if (all.v.n <= MAX_BOXES)
        return all;
    for (size_t i = 0; i < all.v.n; i++) {
        const struct box *b = &all.v.v[i];
        size_t g = i < MAX_BOXES ? i : nearest(w, all.v.v, b);

        *vec_push(w->arena, &groups[g].v) = *b;
    }
    for (size_t i = 0; i < MAX_BOXES; i++)
        *vec_push(w->arena, &out.v) = join(w, &groups[i]);
    sort(w, &out);
    return out;
}

/* A box named `id` and the line from `source` to it. */
static void add_box(struct writer *w, const char *source, const char *id,
                    struct str name, int64_t weight, const char *style)
{
    struct buf value = BUF_INIT(BUF_NO_LIMIT);
    const char *v;

    report_add_value(w->graph->report, &value, weight);
    v = buf_cstr(&value);
    buf_addf(w->out, "%s [label = \"", id);
    buf_add(w->out, name);
    buf_addf(w->out, "\" id=\"%s\" fontsize=8 shape=box3d tooltip=\"%s\"]\n",
             id, v);
    buf_addf(w->out,
             "%s -> %s [label=\" %s\" weight=100 tooltip=\"%s\" "
             "labeltooltip=\"%s\"%s]\n",
             source, id, v, v, v, style);
    buf_release(&value);
}

static void add_numeric(struct writer *w, uint32_t node, struct str label,
                        const char *source)
{
    struct boxes b = collapse(w, collect(w, node, true, label));

    for (size_t i = 0; i < b.v.n; i++) {
        const struct box *box = &b.v.v[i];
        int64_t flat = box_flat(box), cum = box_cum(box);
        bool dotted = !w->flat && flat != cum;
        int64_t weight = dotted ? cum : flat;

        if (weight != 0)
            add_box(w, source, arena_printf(w->arena, "N%s_%zu", source, i),
                    box->name, weight, dotted ? " style=\"dotted\"" : "");
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

void dot_add_tags(const struct graph *g, uint32_t node, size_t number,
                  struct buf *out)
{
    struct writer w = {.graph = g, .out = out};
    struct boxes labels;
    char *source;

    if (g->tags.start[node] == g->tags.start[node + 1])
        return;
    w.arena = arena_new();
    w.flat = has_calls(g, node);
    source = arena_printf(w.arena, "N%zu", number);
    labels = collect(&w, node, false, STR(""));
    for (size_t i = 0; i < labels.v.n && i < MAX_BOXES; i++) {
        const struct box *b = &labels.v.v[i];
        int64_t weight = w.flat ? box_flat(b) : box_cum(b);
        char *id = arena_printf(w.arena, "%s_%zu", source, i);

        if (weight == 0)
            continue;
        add_box(&w, source, id, b->name, weight, "");
        add_numeric(&w, node, b->name, id);
    }
    add_numeric(&w, node, STR(""), source);
    arena_free(w.arena);
}
