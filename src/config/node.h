#ifndef CONFIG_NODE_H
#define CONFIG_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

/*
 * A value of a document; config/document.h has the manual.
 */
enum node_kind { NODE_NULL, NODE_SCALAR, NODE_LIST, NODE_MAP };

/* What all nodes of a document share. */
struct document {
    struct arena *arena;
    const char *name; /* of the file, for errors */
};

struct node {
    enum node_kind kind;
    bool is_quoted;  /* a scalar that is a text, whatever it looks like */
    struct str text; /* of a scalar */

    /* Children of a list or a map, n of them; keys of a map alone. */
    const struct node *const *items;
    const struct str *keys;
    size_t n;

    /* For errors. */
    const struct document *document;
    const struct node *parent;     /* NULL: the root */
    struct str name;               /* its key in a map */
    size_t index;                  /* its place in a list */
    uint32_t line, column;         /* from 1; 0: not known */
    uint32_t key_line, key_column; /* of its key */

    struct asked_keys *asked; /* of a map: what the getters looked for */
};

#endif
