#ifndef CONFIG_DOCUMENT_MAKE_H
#define CONFIG_DOCUMENT_MAKE_H

#include "base/map.h"
#include "config/limits.h"
#include "config/node.h"

/*
 * How the readers of YAML and JSON build a tree; private to them.
 */
struct document_builder {
    struct document *document;
    struct arena *arena; /* the document's */
    struct document_limits limits;
    size_t n_nodes;
};

/* A list or a map that is being filled. */
struct node_builder {
    struct document_builder *document;
    struct node *node;
    VEC(const struct node *) items;
    VEC(struct str) keys;
    struct map index;              /* of keys, once there is one */
    uint32_t key_line, key_column; /* of the last key */
};

/* A node of a kind, counted; NULL: there are too many. */
struct node *document_node(struct document_builder *d, enum node_kind kind,
                           uint32_t line, uint32_t column, struct error *err);

/* Counts the nodes below and at n once more, for an alias. */
bool document_count_again(struct document_builder *d, const struct node *n,
                          struct error *err);

/* Adds a child; to a map, a key that must be new and then its value. */
void document_builder_add(struct node_builder *b, const struct node *child);
bool document_builder_add_key(struct node_builder *b, struct str key,
                              uint32_t line, uint32_t column,
                              struct error *err);
void document_builder_finish(struct node_builder *b);

/* Refuses a text that is longer than the limit. */
bool document_begin(struct document_builder *d, struct arena *a,
                    struct document_source source,
                    const struct document_limits *limits, struct error *err);

#endif
