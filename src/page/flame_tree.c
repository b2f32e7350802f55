/*
 * A trie of sources.  A node's children are found through one hash index
 * over (parent, source); a sample that begins as the one before it did
 * continues from where they part, without a look at the index.  Then the
 * trie, which is in order of discovery, is put in the order of levels.
 */
#include "page/flame_tree.h"

#include <stdlib.h>

#include "base/i64.h"
#include "report/stacks.h"
#include "report/total.h"

struct trie_node {
    uint32_t source, parent;
    uint32_t first_child, next_sibling;
    uint32_t n_children;
    int64_t self, base;
    int64_t divisor, base_divisor; /* with -mean */
    uint64_t weight;               /* sum of sizes, with all below */
};

/* A frame of the last sample and the node that it led to. */
struct step {
    uint32_t location, node;
};

struct maker {
    struct flame_tree *tree;
    struct report *report;
    struct arena *arena;    /* for the making alone */
    uint32_t *source_of[2]; /* by node of the table: called, inlined */
    VEC(struct trie_node) trie;
    struct map index;
    VEC(struct step) path;
};

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

static uint32_t add_child(struct maker *m, uint32_t parent, uint32_t source)
{
    uint32_t child = (uint32_t)m->trie.n;

    *vec_push(m->arena, &m->trie) =
        (struct trie_node){.source = source,
                           .parent = parent,
                           .first_child = NO_INDEX,
                           .next_sibling = NO_INDEX};
    if (child == 0)
        return child;
    m->trie.v[child].next_sibling = m->trie.v[parent].first_child;
    m->trie.v[parent].first_child = child;
    m->trie.v[parent].n_children++;
    return child;
}

static uint32_t child_of(struct maker *m, uint32_t parent, uint32_t source)
{
    struct map_cursor c = map_find(&m->index, (uint64_t)parent << 32 | source);

    while (map_next(&m->index, &c)) {
        const struct trie_node *n = &m->trie.v[c.record];

        if (n->parent == parent && n->source == source)
            return c.record;
    }
    map_add(&m->index, &c, (uint32_t)m->trie.n);
    return add_child(m, parent, source);
}

/* The node below `node` for a location: its lines, outermost first. */
static uint32_t descend(struct maker *m, uint32_t node, uint32_t location)
{
    struct node_span span = node_table_at(&m->tree->table, location);

    for (size_t i = 0; i < span.n; i++)
        node = child_of(m, node, source_of(m, span.ids[i], i > 0, location));
    return node;
}

/* The node of a sample's leaf. */
static uint32_t climb(struct maker *m, size_t sample)
{
    const struct profile *p = m->report->profile;
    size_t depth = profile_depth(p, sample), same = 0;
    const uint32_t *root = p->stack + p->loc_start[sample + 1];
    uint32_t node;

    while (same < depth && same < m->path.n &&
           m->path.v[same].location == root[-1 - (ptrdiff_t)same])
        same++;
    m->path.n = same;
    node = same > 0 ? m->path.v[same - 1].node : 0;
    for (size_t i = same; i < depth; i++) {
        uint32_t location = root[-1 - (ptrdiff_t)i];

        node = descend(m, node, location);
        *vec_push(m->arena, &m->path) = (struct step){location, node};
    }
    return node;
}

static void add_sample(struct maker *m, size_t sample, bool is_base)
{
    const struct report *r = m->report;
    uint32_t leaf = climb(m, sample);
    struct trie_node *n = &m->trie.v[leaf];
    int64_t value = report_value(r, sample);
    int64_t divisor = report_divisor(r, sample);

    if (is_base) { /* negative in the profile */
        n->base = i64_sub(n->base, value);
        n->base_divisor = i64_sub(n->base_divisor, divisor);
    } else {
        n->self = i64_add(n->self, value);
        n->divisor = i64_add(n->divisor, divisor);
    }
    if (profile_depth(r->profile, sample) == 0) {
        m->tree->frameless++;
        m->tree->frameless_value = i64_add(m->tree->frameless_value, value);
    }
}

static void divide(int64_t *value, int64_t divisor)
{
    if (divisor != 0)
        *value = i64_div(*value, divisor);
}

/* Children come after their parents, so that one pass backwards adds up. */
static void weigh(struct maker *m)
{
    for (size_t i = m->trie.n; i-- > 0;) {
        struct trie_node *n = &m->trie.v[i];

        divide(&n->self, n->divisor);
        divide(&n->base, n->base_divisor);
        n->weight += (uint64_t)i64_abs(n->self) + (uint64_t)i64_abs(n->base);
        if (i > 0)
            m->trie.v[n->parent].weight += n->weight;
    }
}

static int heavier(const void *x, const void *y, void *arg)
{
    const struct trie_node *trie = arg;
    const struct trie_node *a = &trie[*(const uint32_t *)x];
    const struct trie_node *b = &trie[*(const uint32_t *)y];

    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return (a->source > b->source) - (a->source < b->source);
}

/* Appends the children of a node to the order. */
static size_t queue_children(struct maker *m, uint32_t *order, size_t n,
                             uint32_t parent)
{
    size_t start = n;

    for (uint32_t c = m->trie.v[parent].first_child; c != NO_INDEX;
         c = m->trie.v[c].next_sibling)
        order[n++] = c;
    if (n - start > 1)
        qsort_r(order + start, n - start, sizeof(*order), heavier, m->trie.v);
    return n;
}

static void put_in_levels(struct maker *m)
{
    struct flame_tree *t = m->tree;
    struct arena *a = m->report->arena;
    uint32_t *order = arena_new_array(m->arena, uint32_t, m->trie.n);
    size_t start = 0, end = 1, n = 1; /* of the level at hand, and of all */

    vec_reserve(a, &t->nodes, m->trie.n);
    for (size_t i = 0; i < n; i++) {
        const struct trie_node *from = &m->trie.v[order[i]];

        *vec_push(a, &t->nodes) =
            (struct flame_node){.source = from->source,
                                .n_children = from->n_children,
                                .self = from->self,
                                .base = from->base};
        n = queue_children(m, order, n, order[i]);
        if (i + 1 < end)
            continue;
        *vec_push(a, &t->levels) = end - start;
        start = end;
        end = n;
    }
}

void flame_tree_make(struct flame_tree *t, struct report *r)
{
    struct profile *p = r->profile;
    struct base_mark mark = base_mark_find(p);
    struct maker m = {.tree = t, .report = r, .arena = arena_new()};

    *t = (struct flame_tree){.has_base = mark.key != NO_INDEX};
    node_table_init(
        &t->table, r->arena, p,
        &(struct node_options){.trim_path = r->config.trim_path,
                               .source_path = r->config.source_path});
    for (int i = 0; i < 2; i++)
        m.source_of[i] = arena_new_array(m.arena, uint32_t, t->table.infos.n);
    *vec_push(r->arena, &t->sources) =
        (struct flame_source){.node = NO_NODE, .location = NO_INDEX};
    map_init(&m.index, m.arena, p->n_samples);
    add_child(&m, 0, 0);
    for (size_t i = 0; i < p->n_samples; i++)
        add_sample(&m, i, t->has_base && base_mark_on(&mark, p, i));
    weigh(&m);
    put_in_levels(&m);
    arena_free(m.arena);
}
