/*
 * Samples become sequences of frame numbers, which are sorted, and equal
 * neighbours are added up.  Frame numbers follow the order of names, so
 * sorting numbers sorts by name without comparing texts.
 */
#include "report/stack/stacks.h"

#include <stdlib.h>

#include "base/i64.h"
#include "base/number.h"
#include "base/path.h"
#include "report/total.h"

/* What is needed while the table is made. */
struct maker {
    struct report_stacks *table;
    const struct report *report;
    uint32_t *frame_of_node;
    struct map index;   /* of stacks */
    VEC(uint32_t) open; /* the frames of the sample at hand */
};

/* Unsymbolized frames are distinguished by their place in the file. */
static void name_bare_location(struct node_table *nodes, struct buf *text,
                               const struct location *l)
{
    const struct profile *p = nodes->profile;
    uint32_t node = node_table_at(nodes, (uint32_t)(l - p->locations.v)).ids[0];
    const struct mapping *m =
        l->mapping == NO_INDEX ? NULL : &p->mappings.v[l->mapping];

    if (l->address == 0)
        return;
    buf_clear(text);
    if (m && m->file && l->address >= m->start) {
        buf_add_char(text, '[');
        buf_add(text, path_base(profile_str(p, m->file)));
        buf_add(text, STR("]+"));
        buf_add_hex(text, l->address - m->start + m->offset);
    } else {
        buf_add_hex(text, l->address);
    }
    nodes->names[node] = arena_str(nodes->arena, buf_str(text));
}

void stacks_name_bare(struct node_table *nodes)
{
    const struct profile *p = nodes->profile;
    struct buf text = arena_buf(nodes->arena);

    for (size_t i = 0; i < p->locations.n; i++)
        if (p->locations.v[i].n_lines == 0)
            name_bare_location(nodes, &text, &p->locations.v[i]);
    buf_release(&text);
}

static int compare_names(const void *a, const void *b)
{
    return str_cmp(((const struct stack_frame *)a)->name,
                   ((const struct stack_frame *)b)->name);
}

/* Finds the nodes that are in a stack: filters leave locations that no sample
 * has. */
static const bool *find_used_nodes(const struct maker *m)
{
    const struct profile *p = m->report->profile;
    const struct node_table *nodes = &m->table->nodes;
    struct arena *a = m->table->arena;
    bool *locations = arena_new_array(a, bool, p->locations.n);
    bool *used = arena_new_array(a, bool, nodes->infos.n);

    for (size_t i = 0; i < p->n_samples; i++)
        for (size_t k = p->loc_start[i]; k < p->loc_start[i + 1]; k++)
            locations[p->stack[k]] = true;
    for (size_t i = 0; i < p->locations.n; i++) {
        struct node_span span = node_table_at(nodes, (uint32_t)i);

        for (size_t k = 0; locations[i] && k < span.n; k++)
            used[span.ids[k]] = true;
    }
    return used;
}

/* Numbers the frames: equal names, equal numbers. */
static void name_frames(struct maker *m)
{
    struct report_stacks *t = m->table;
    const bool *used = find_used_nodes(m);
    size_t n = 0, unique = 0;
    struct stack_frame *all =
        arena_new_array(t->arena, struct stack_frame, t->nodes.infos.n);

    stacks_name_bare(&t->nodes);
    for (size_t i = 0; i < t->nodes.infos.n; i++)
        if (used[i])
            all[n++] = (struct stack_frame){
                .name = node_name(&t->nodes, (uint32_t)i), .node = (uint32_t)i};
    if (n > 0)
        qsort(all, n, sizeof(*all), compare_names);
    m->frame_of_node = arena_new_array(t->arena, uint32_t, t->nodes.infos.n);
    for (size_t i = 0; i < n; i++) {
        uint32_t node = all[i].node;

        if (unique == 0 || !str_eq(all[unique - 1].name, all[i].name))
            all[unique++] = all[i];
        m->frame_of_node[node] = (uint32_t)(unique - 1);
    }
    t->names.v = all;
    t->names.n = unique;
}

/* Fills m->open with the frames of a sample and gives their hash. */
static uint64_t open_stack(struct maker *m, size_t sample)
{
    const struct profile *p = m->report->profile;
    uint64_t hash = 0;

    m->open.n = 0;
    for (size_t i = p->loc_start[sample + 1]; i-- > p->loc_start[sample];) {
        struct node_span span = node_table_at(&m->table->nodes, p->stack[i]);

        vec_reserve(m->table->arena, &m->open, span.n);
        for (size_t k = 0; k < span.n; k++) {
            uint32_t frame = m->frame_of_node[span.ids[k]];

            m->open.v[m->open.n++] = frame;
            hash = map_mix(hash, frame);
        }
    }
    return hash;
}

/* The row of values of the open stack, made when it is new. */
static uint32_t find_stack(struct maker *m, uint64_t hash)
{
    struct report_stacks *t = m->table;
    struct map_cursor c = map_find(&m->index, hash);
    size_t bytes = m->open.n * sizeof(uint32_t);
    uint32_t row = (uint32_t)t->stacks.n;

    while (map_next(&m->index, &c)) {
        const struct stack *s = &t->stacks.v[c.record];

        if (s->depth == m->open.n &&
            memcmp(t->frames.v + s->start, m->open.v, bytes) == 0)
            return c.record;
    }
    map_add(&m->index, &c, row);
    *vec_push(t->arena, &t->stacks) =
        (struct stack){.start = t->frames.n, .depth = m->open.n, .row = row};
    vec_reserve(t->arena, &t->frames, m->open.n);
    memcpy(t->frames.v + t->frames.n, m->open.v, bytes);
    t->frames.n += m->open.n;
    vec_reserve(t->arena, &t->values, t->n_types);
    t->values.n += t->n_types;
    if (t->has_base) {
        vec_reserve(t->arena, &t->base, t->n_types);
        t->base.n += t->n_types;
    }
    return row;
}

static void add_row(int64_t *sums, const int64_t *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sums[i] = i64_add(sums[i], values[i]);
}

static int compare_stacks(const void *x, const void *y, void *arg)
{
    const struct stack *a = x, *b = y;
    const uint32_t *frames = arg;
    size_t n = a->depth < b->depth ? a->depth : b->depth;

    for (size_t i = 0; i < n; i++) {
        uint32_t fa = frames[a->start + i], fb = frames[b->start + i];

        if (fa != fb)
            return fa < fb ? -1 : 1;
    }
    return (a->depth > b->depth) - (a->depth < b->depth);
}

void report_stacks_make(struct report_stacks *t, const struct report *r)
{
    const struct profile *p = r->profile;
    struct base_mark mark = base_mark_find(p);
    struct maker m = {.table = t, .report = r};

    *t = (struct report_stacks){.arena = r->arena,
                                .n_types = p->types.n,
                                .has_base = mark.key != NO_INDEX};
    node_table_init(
        &t->nodes, r->arena, r->profile,
        &(struct node_options){.trim_path = r->config.trim_path,
                               .source_path = r->config.source_path});
    name_frames(&m);
    map_init(&m.index, r->arena, p->n_samples);
    for (size_t i = 0; i < p->n_samples; i++) {
        const int64_t *values = p->values + i * t->n_types;
        uint64_t hash = open_stack(&m, i);
        size_t row;

        if (m.open.n == 0)
            continue;
        row = find_stack(&m, hash) * t->n_types;
        add_row(t->values.v + row, values, t->n_types);
        if (t->has_base && base_mark_on(&mark, p, i))
            add_row(t->base.v + row, values, t->n_types);
    }
    if (t->stacks.n > 0)
        qsort_r(t->stacks.v, t->stacks.n, sizeof(*t->stacks.v), compare_stacks,
                t->frames.v);
}

int64_t stack_value(const struct report *r, const struct report_stacks *t,
                    const struct stack *s)
{
    const int64_t *row = t->values.v + s->row * t->n_types;
    int64_t divisor = r->config.mean ? row[0] : 0;

    return divisor ? i64_div(row[r->value_index], divisor)
                   : row[r->value_index];
}
