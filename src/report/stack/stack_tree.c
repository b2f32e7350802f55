/*
 * The stacks are sorted, so the tree is made in one pass with the path of the
 * last stack as the only state.
 */
#include "report/stack/stack_tree.h"

#include <stdlib.h>

#include "base/i64.h"

static uint32_t add_node(struct stack_tree *tree, struct arena *a,
                         uint32_t frame)
{
    *vec_push(a, &tree->nodes) = (struct tree_node){
        .frame = frame, .first_child = NO_INDEX, .next_sibling = NO_INDEX};
    return (uint32_t)tree->nodes.n - 1;
}

static uint32_t add_child(struct stack_tree *tree, struct arena *a,
                          uint32_t parent, uint32_t frame)
{
    uint32_t child = add_node(tree, a, frame);
    struct tree_node *nodes = tree->nodes.v;

    nodes[child].next_sibling = nodes[parent].first_child;
    nodes[parent].first_child = child;
    nodes[parent].n_children++;
    return child;
}

static void add_amounts(struct amounts *sum, struct amounts a)
{
    sum->before = i64_add(sum->before, a.before);
    sum->after = i64_add(sum->after, a.after);
}

static int compare_children(const void *x, const void *y, void *arg)
{
    const struct tree_node *nodes = arg;
    const struct tree_node *a = &nodes[*(const uint32_t *)x];
    const struct tree_node *b = &nodes[*(const uint32_t *)y];

    if (a->amounts.after != b->amounts.after)
        return a->amounts.after > b->amounts.after ? -1 : 1;
    return (a->frame > b->frame) - (a->frame < b->frame);
}

static void sort_children(struct stack_tree *tree, uint32_t *room,
                          uint32_t parent)
{
    struct tree_node *nodes = tree->nodes.v;
    size_t n = 0;

    for (uint32_t c = nodes[parent].first_child; c != NO_INDEX;
         c = nodes[c].next_sibling)
        room[n++] = c;
    if (n < 2)
        return;
    qsort_r(room, n, sizeof(*room), compare_children, nodes);
    nodes[parent].first_child = room[0];
    for (size_t i = 0; i < n; i++)
        nodes[room[i]].next_sibling = i + 1 < n ? room[i + 1] : NO_INDEX;
}

void stack_tree_make(struct stack_tree *tree, const struct report *r,
                     const struct report_stacks *t)
{
    VEC(uint32_t) path = {0}; /* the nodes of the last stack, root first */
    struct arena *a = r->arena;
    uint32_t *room;

    *tree = (struct stack_tree){0};
    *vec_push(a, &path) = add_node(tree, a, NO_INDEX);
    for (size_t i = 0; i < t->stacks.n; i++) {
        const struct stack *s = &t->stacks.v[i];
        const uint32_t *frames = t->frames.v + s->start;
        struct amounts amounts = stack_amounts(t, s, r->value_index);
        size_t same = 0;

        if (!t->has_base)
            amounts = (struct amounts){.after = stack_value(r, t, s)};
        if (amounts.after < 0) {
            tree->negative = i64_add(tree->negative, amounts.after);
            amounts.after = 0;
        }
        if (amounts.after == 0 && amounts.before == 0)
            continue;
        if (amounts.after == 0)
            tree->gone = i64_add(tree->gone, amounts.before);
        while (same < s->depth && same + 1 < path.n &&
               tree->nodes.v[path.v[same + 1]].frame == frames[same])
            same++;
        path.n = same + 1;
        for (size_t k = same; k < s->depth; k++) {
            uint32_t child = add_child(tree, a, path.v[k], frames[k]);

            *vec_push(a, &path) = child;
        }
        for (size_t k = 0; k < path.n; k++)
            add_amounts(&tree->nodes.v[path.v[k]].amounts, amounts);
    }
    room = arena_new_array(a, uint32_t, tree->nodes.n);
    for (size_t i = 0; i < tree->nodes.n; i++)
        sort_children(tree, room, (uint32_t)i);
}
