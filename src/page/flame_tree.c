/*
 * The samples of a node stand side by side; a pass over them finds the
 * children by the source at the next level, and a second one puts the samples
 * of each child side by side.  Which child a source is, is kept in a table by
 * source, stamped with the node it is valid for, so that nothing is hashed or
 * searched: the work is one step a frame.
 *
 * Nodes are made depth first, because the samples of a subtree are then still
 * in the cache when its children are looked at, and put in levels at the end.
 * Within a level both orders are the same.
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

/* A node whose samples are known: samples[from .. to). */
struct pending {
    uint32_t source, level;
    uint32_t from, to;
};

struct made {
    struct flame_node node;
    uint32_t level;
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

    uint32_t *samples;         /* node by node */
    uint32_t *spare;           /* for those of one node */
    uint32_t *child_of;        /* the same */
    VEC(struct pending) stack; /* nodes to be made, the next on top */
    VEC(struct made) made;     /* depth first */

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

static struct flame_node *add_node(struct maker *m, uint32_t source,
                                   uint32_t level)
{
    struct made *n = vec_push(m->arena, &m->made);

    *n = (struct made){.node = {.source = source}, .level = level};
    return &n->node;
}

/* Finds the children, and what ends here. */
static void look_at_samples(struct maker *m, const struct pending *p,
                            uint32_t node, struct own *own)
{
    m->children.n = 0;
    for (uint32_t i = p->from; i < p->to; i++) {
        uint32_t sample = m->samples[i];
        size_t frame = m->start[sample] + p->level;
        struct child *c;

        m->child_of[i] = NO_INDEX;
        if (frame == m->start[sample + 1]) {
            add_own(m, own, sample);
            continue;
        }
        c = find_child(m, m->frames[frame], node);
        m->child_of[i] = c->number;
        c->n_samples++;
        c->weight += (uint64_t)i64_abs(report_value(m->report, sample));
    }
}

/* Gives the children their order, each a place for its samples, and puts
 * them on the stack, the first on top. */
static void push_children(struct maker *m, const struct pending *p)
{
    struct child *c = m->children.v;
    size_t n = m->children.n;
    uint32_t at = p->from;

    if (n > 1)
        qsort(c, n, sizeof(*c), heavier);
    vec_reserve(m->arena, &m->stack, n);
    for (size_t i = 0; i < n; i++) {
        m->rank[c[i].number] = (uint32_t)i;
        c[i].next = at;
        m->stack.v[m->stack.n + n - 1 - i] =
            (struct pending){.source = c[i].source,
                             .level = p->level + 1,
                             .from = at,
                             .to = at + c[i].n_samples};
        at += c[i].n_samples;
    }
    m->stack.n += n;
}

static void move_samples(struct maker *m, const struct pending *p)
{
    memcpy(m->spare + p->from, m->samples + p->from,
           (p->to - p->from) * sizeof(*m->spare));
    for (uint32_t i = p->from; i < p->to; i++) {
        uint32_t number = m->child_of[i];

        if (number != NO_INDEX)
            m->samples[m->children.v[m->rank[number]].next++] = m->spare[i];
    }
}

static void split(struct maker *m, const struct pending *p)
{
    uint32_t node = (uint32_t)m->made.n;
    struct flame_node *n = add_node(m, p->source, p->level);
    struct own own = {0};

    look_at_samples(m, p, node, &own);
    set_own(n, &own);
    n->n_children = (uint32_t)m->children.n;
    push_children(m, p);
    move_samples(m, p);
}

/* A node with one sample, which most are, and all below it. */
static void follow(struct maker *m, const struct pending *p)
{
    uint32_t sample = m->samples[p->from], level = p->level;
    size_t at = m->start[sample] + level, end = m->start[sample + 1];
    struct flame_node *n = add_node(m, p->source, level);
    struct own own = {0};

    for (; at < end; at++) {
        n->n_children = 1;
        n = add_node(m, m->frames[at], ++level);
    }
    add_own(m, &own, sample);
    set_own(n, &own);
}

/* ---- all of them ---- */

static void grow(struct maker *m)
{
    while (m->stack.n > 0) {
        struct pending p = m->stack.v[--m->stack.n];

        if (p.to - p.from == 1)
            follow(m, &p);
        else
            split(m, &p);
    }
}

static void put_in_levels(struct maker *m)
{
    struct flame_tree *t = m->tree;
    struct arena *a = m->report->arena;
    size_t n_levels = 0, at = 0;
    size_t *next;

    for (size_t i = 0; i < m->made.n; i++)
        if (m->made.v[i].level >= n_levels)
            n_levels = m->made.v[i].level + 1;
    vec_reserve(a, &t->levels, n_levels);
    t->levels.n = n_levels;
    for (size_t i = 0; i < m->made.n; i++)
        t->levels.v[m->made.v[i].level]++;
    next = arena_new_array(m->arena, size_t, n_levels);
    for (size_t i = 0; i < n_levels; i++) {
        next[i] = at;
        at += t->levels.v[i];
    }
    assert(at == m->made.n);
    vec_reserve(a, &t->nodes, m->made.n);
    t->nodes.n = m->made.n;
    for (size_t i = 0; i < m->made.n; i++)
        t->nodes.v[next[m->made.v[i].level]++] = m->made.v[i].node;
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
    m->spare = arena_new_array(m->arena, uint32_t, n);
    m->child_of = arena_new_array(m->arena, uint32_t, n);
    m->rank = arena_new_array(m->arena, uint32_t, t->sources.n);
    m->stamp = arena_new_array(m->arena, uint32_t, t->sources.n);
    m->number = arena_new_array(m->arena, uint32_t, t->sources.n);
    for (size_t i = 0; i < n; i++) {
        if (!is_shown(m, i))
            continue;
        m->samples[shown++] = (uint32_t)i;
        if (m->start[i] == m->start[i + 1]) {
            t->frameless++;
            t->frameless_value =
                i64_add(t->frameless_value, report_value(r, i));
        }
    }
    *vec_push(m->arena, &m->stack) = (struct pending){.to = (uint32_t)shown};
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
    put_in_levels(&m);
    number_sources(&m);
    arena_free(m.arena);
}
