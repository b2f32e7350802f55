/*
 * Level by level.  The samples of a node stand side by side; a pass over them
 * finds the children by the source at the next level, and a second one puts
 * the samples of each child side by side.  Which child a source is, is kept
 * in a table by source, stamped with the node it is valid for, so that
 * nothing is hashed or searched: the work is one step a frame.
 */
#include "page/flame_tree.h"

#include <assert.h>
#include <stdlib.h>

#include "base/i64.h"
#include "report/total.h"

/* A child of the node at hand. */
struct child {
    uint32_t source;
    uint32_t n_samples;
    uint32_t number; /* in the order of discovery */
    uint32_t next;   /* where its next sample goes */
    uint64_t weight;
};

struct maker {
    struct flame_tree *tree;
    struct report *report;
    struct arena *arena; /* for the making alone */
    struct base_mark mark;

    uint32_t *source_of[2]; /* by node of the table: called, inlined; 0: none */

    /* The samples as sources, root first: those of sample i are
     * frames[start[i] .. start[i + 1]). */
    uint32_t *frames;
    size_t *start;

    uint32_t *samples, *next_samples; /* of a level, node by node */
    uint32_t *child_of;               /* for the samples of a node */
    VEC(uint32_t) counts;             /* samples of each node of a level */
    VEC(uint32_t) next_counts;

    VEC(struct child) children;
    uint32_t *rank;   /* of each child, by its number */
    uint32_t *stamp;  /* by source: the node for which `number` holds, + 1 */
    uint32_t *number; /* by source: of the child */
};

/* ---- sources ---- */

static uint32_t source_of(struct maker *m, uint32_t node, bool inlined,
                          uint32_t location)
{
    uint32_t *known = &m->source_of[inlined][node];

    if (*known == 0) {
        *known = (uint32_t)m->tree->sources.n;
        *vec_push(m->report->arena, &m->tree->sources) = (struct flame_source){
            .node = node, .location = location, .inlined = inlined};
    }
    return *known;
}

/* With -mean what is worth nothing still divides. */
static bool is_shown(const struct maker *m, size_t sample)
{
    return report_value(m->report, sample) != 0 ||
           report_divisor(m->report, sample) != 0;
}

static size_t count_frames(const struct maker *m)
{
    const struct profile *p = m->report->profile;
    size_t n = 0;

    for (size_t i = 0; i < p->n_samples; i++)
        for (size_t k = p->loc_start[i];
             is_shown(m, i) && k < p->loc_start[i + 1]; k++)
            n += node_table_at(&m->tree->table, p->stack[k]).n;
    return n;
}

static void expand_samples(struct maker *m)
{
    const struct profile *p = m->report->profile;
    size_t n = 0;

    m->frames = arena_new_array(m->arena, uint32_t, count_frames(m));
    m->start = arena_new_array(m->arena, size_t, p->n_samples + 1);
    for (size_t i = 0; i < p->n_samples; i++) {
        m->start[i] = n;
        for (size_t k = p->loc_start[i + 1];
             is_shown(m, i) && k-- > p->loc_start[i];) {
            struct node_span span = node_table_at(&m->tree->table, p->stack[k]);

            for (size_t l = 0; l < span.n; l++)
                m->frames[n++] = source_of(m, span.ids[l], l > 0, p->stack[k]);
        }
    }
    m->start[p->n_samples] = n;
}

/* ---- one node ---- */

/* What ends at a node, while its samples are looked at. */
struct own {
    int64_t value, divisor;
    int64_t base, base_divisor;
};

static void add_own(const struct maker *m, struct own *own, size_t sample)
{
    const struct report *r = m->report;
    int64_t value = report_value(r, sample);
    int64_t divisor = report_divisor(r, sample);

    if (m->tree->has_base && base_mark_on(&m->mark, r->profile, sample)) {
        own->base = i64_sub(own->base, value); /* negative in the profile */
        own->base_divisor = i64_sub(own->base_divisor, divisor);
    } else {
        own->value = i64_add(own->value, value);
        own->divisor = i64_add(own->divisor, divisor);
    }
}

static void set_own(struct flame_node *n, const struct own *own)
{
    n->self = own->divisor ? i64_div(own->value, own->divisor) : own->value;
    n->base =
        own->base_divisor ? i64_div(own->base, own->base_divisor) : own->base;
}

static struct child *find_child(struct maker *m, uint32_t source, uint32_t node)
{
    struct child *c;

    if (m->stamp[source] != node + 1) {
        m->stamp[source] = node + 1;
        m->number[source] = (uint32_t)m->children.n;
        c = vec_push(m->arena, &m->children);
        *c = (struct child){.source = source, .number = m->number[source]};
        return c;
    }
    assert(m->children.v);
    return &m->children.v[m->number[source]];
}

static int heavier(const void *x, const void *y)
{
    const struct child *a = x, *b = y;

    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return (a->source > b->source) - (a->source < b->source);
}

static void add_node(struct maker *m, uint32_t source, uint32_t n_samples)
{
    *vec_push(m->report->arena, &m->tree->nodes) =
        (struct flame_node){.source = source};
    *vec_push(m->arena, &m->next_counts) = n_samples;
}

/* Gives the children their order, and each a place for its samples. */
static void place_children(struct maker *m, size_t at)
{
    struct child *c = m->children.v;

    if (m->children.n > 1)
        qsort(c, m->children.n, sizeof(*c), heavier);
    for (size_t i = 0; i < m->children.n; i++) {
        m->rank[c[i].number] = (uint32_t)i;
        c[i].next = (uint32_t)at;
        at += c[i].n_samples;
        add_node(m, c[i].source, c[i].n_samples);
    }
}

/* The samples of a node are m->samples[from .. to), those of its children
 * come to m->next_samples from `at` on; gives where they end. */
static size_t split(struct maker *m, uint32_t node, size_t level, size_t from,
                    size_t to, size_t at)
{
    struct own own = {0};

    m->children.n = 0;
    for (size_t i = from; i < to; i++) {
        uint32_t sample = m->samples[i];
        size_t frame = m->start[sample] + level;
        struct child *c;

        m->child_of[i] = NO_INDEX;
        if (frame == m->start[sample + 1]) {
            add_own(m, &own, sample);
            continue;
        }
        c = find_child(m, m->frames[frame], node);
        m->child_of[i] = c->number;
        c->n_samples++;
        c->weight += (uint64_t)i64_abs(report_value(m->report, sample));
    }
    set_own(&m->tree->nodes.v[node], &own);
    m->tree->nodes.v[node].n_children = (uint32_t)m->children.n;
    place_children(m, at);
    for (size_t i = from; i < to; i++) {
        if (m->child_of[i] == NO_INDEX)
            continue;
        m->next_samples[m->children.v[m->rank[m->child_of[i]]].next++] =
            m->samples[i];
        at++;
    }
    return at;
}

/* The same for a node with one sample, which most are. */
static size_t follow(struct maker *m, uint32_t node, size_t level, size_t from,
                     size_t at)
{
    uint32_t sample = m->samples[from];
    size_t frame = m->start[sample] + level;
    struct own own = {0};

    if (frame == m->start[sample + 1]) {
        add_own(m, &own, sample);
        set_own(&m->tree->nodes.v[node], &own);
        return at;
    }
    m->tree->nodes.v[node].n_children = 1;
    add_node(m, m->frames[frame], 1);
    m->next_samples[at] = sample;
    return at + 1;
}

/* ---- all of them ---- */

static void swap_levels(struct maker *m)
{
    uint32_t *samples = m->samples;

    m->samples = m->next_samples;
    m->next_samples = samples;
    m->counts.n = 0;
    vec_reserve(m->arena, &m->counts, m->next_counts.n);
    if (m->next_counts.n > 0)
        memcpy(m->counts.v, m->next_counts.v,
               m->next_counts.n * sizeof(*m->counts.v));
    m->counts.n = m->next_counts.n;
    m->next_counts.n = 0;
}

static void grow(struct maker *m)
{
    uint32_t node = 0;

    for (size_t level = 0; m->next_counts.n > 0; level++) {
        size_t from = 0, at = 0;

        swap_levels(m);
        *vec_push(m->report->arena, &m->tree->levels) = m->counts.n;
        for (size_t i = 0; i < m->counts.n; i++, node++) {
            size_t n = m->counts.v[i];

            at = n == 1 ? follow(m, node, level, from, at)
                        : split(m, node, level, from, from + n, at);
            from += n;
        }
    }
}

/* Sources are numbered as the nodes first have them. */
static void number_sources(struct maker *m)
{
    struct flame_tree *t = m->tree;
    struct flame_source *old = t->sources.v;
    size_t n = 0;

    t->sources.v =
        arena_new_array(m->report->arena, struct flame_source, t->sources.n);
    memset(m->number, 0xff, t->sources.n * sizeof(*m->number));
    for (size_t i = 0; i < t->nodes.n; i++) {
        uint32_t *number = &m->number[t->nodes.v[i].source];

        if (*number == NO_INDEX) {
            *number = (uint32_t)n;
            t->sources.v[n++] = old[t->nodes.v[i].source];
        }
        t->nodes.v[i].source = *number;
    }
    t->sources.n = n;
}

static void plant(struct maker *m)
{
    struct flame_tree *t = m->tree;
    const struct report *r = m->report;
    size_t n = r->profile->n_samples, shown = 0;

    m->samples = arena_new_array(m->arena, uint32_t, n);
    m->next_samples = arena_new_array(m->arena, uint32_t, n);
    m->child_of = arena_new_array(m->arena, uint32_t, n);
    m->rank = arena_new_array(m->arena, uint32_t, t->sources.n);
    m->stamp = arena_new_array(m->arena, uint32_t, t->sources.n);
    m->number = arena_new_array(m->arena, uint32_t, t->sources.n);
    for (size_t i = 0; i < n; i++) {
        if (!is_shown(m, i))
            continue;
        m->next_samples[shown++] = (uint32_t)i;
        if (m->start[i] == m->start[i + 1]) {
            t->frameless++;
            t->frameless_value =
                i64_add(t->frameless_value, report_value(r, i));
        }
    }
    add_node(m, 0, (uint32_t)shown);
}

void flame_tree_make(struct flame_tree *t, struct report *r)
{
    struct profile *p = r->profile;
    struct maker m = {.tree = t,
                      .report = r,
                      .arena = arena_new(),
                      .mark = base_mark_find(p)};

    *t = (struct flame_tree){.has_base = m.mark.key != NO_INDEX};
    node_table_init(
        &t->table, r->arena, p,
        &(struct node_options){.trim_path = r->config.trim_path,
                               .source_path = r->config.source_path});
    for (int i = 0; i < 2; i++)
        m.source_of[i] = arena_new_array(m.arena, uint32_t, t->table.infos.n);
    *vec_push(r->arena, &t->sources) =
        (struct flame_source){.node = NO_NODE, .location = NO_INDEX};
    expand_samples(&m);
    plant(&m);
    grow(&m);
    number_sources(&m);
    arena_free(m.arena);
}
