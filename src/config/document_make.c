/*
 * Builds the tree node by node and counts, so that no document costs more
 * than its limits allow.
 */
#include "config/document_make.h"

#include <assert.h>

#include "config/node_error.h"

const struct document_limits document_default_limits = {
    .bytes = (size_t)4 << 20, .nodes = 100000, .depth = 64};

bool document_begin(struct document_builder *d, struct arena *a,
                    struct document_source source,
                    const struct document_limits *limits, struct error *err)
{
    *d = (struct document_builder){
        .document = arena_alloc(a, sizeof(*d->document)),
        .arena = a,
        .limits = limits ? *limits : document_default_limits,
    };
    d->document->arena = a;
    d->document->name = arena_cstr(a, str_from(source.name));
    return source.text.n <= d->limits.bytes ||
           document_fail(d->document, 0, 0, err, "%zu bytes; the limit is %zu",
                         source.text.n, d->limits.bytes);
}

static bool count(struct document_builder *d, size_t n, struct error *err)
{
    d->n_nodes += n;
    return d->n_nodes <= d->limits.nodes ||
           document_fail(d->document, 0, 0, err, "more than %zu values",
                         d->limits.nodes);
}

struct node *document_node(struct document_builder *d, enum node_kind kind,
                           uint32_t line, uint32_t column, struct error *err)
{
    struct node *n;

    if (!count(d, 1, err))
        return NULL;
    n = arena_alloc(d->arena, sizeof(*n));
    n->kind = kind;
    n->document = d->document;
    n->line = line;
    n->column = column;
    return n;
}

bool document_count_again(struct document_builder *d, const struct node *n,
                          struct error *err)
{
    if (!count(d, 1, err))
        return false;
    for (size_t i = 0; i < n->n; i++)
        if (!document_count_again(d, n->items[i], err))
            return false;
    return true;
}

void document_builder_add(struct node_builder *b, const struct node *child)
{
    struct node *c = (struct node *)child; /* still being made */

    if (!c->parent) {
        c->parent = b->node;
        c->index = b->items.n;
        if (b->node->kind == NODE_MAP) {
            c->name = b->keys.v[b->items.n];
            c->key_line = b->key_line;
            c->key_column = b->key_column;
        }
    }
    *vec_push(b->document->arena, &b->items) = child;
}

bool document_builder_add_key(struct node_builder *b, struct str key,
                              uint32_t line, uint32_t column, struct error *err)
{
    struct map_cursor c;
    uint64_t hash;

    assert(b->keys.n == b->items.n);
    if (b->keys.n == 0)
        map_init(&b->index, b->document->arena, 0);
    hash = str_hash_seeded(key, b->index.seed);
    c = map_find(&b->index, hash);
    while (map_next(&b->index, &c))
        if (str_eq(b->keys.v[c.record], key))
            return document_fail(b->document->document, line, column, err,
                                 "the key \"%" STR_FMT "\" is there already: "
                                 "remove one of the two",
                                 STR_ARG(key));
    map_add(&b->index, &c, (uint32_t)b->keys.n);
    *vec_push(b->document->arena, &b->keys) = key;
    b->key_line = line;
    b->key_column = column;
    return true;
}

void document_builder_finish(struct node_builder *b)
{
    assert(b->node->kind != NODE_MAP || b->keys.n == b->items.n);
    b->node->items = b->items.v;
    b->node->keys = b->keys.v;
    b->node->n = b->items.n;
}
