/*
 * Bytes as YAML and as JSON: whatever they are, a tree is well-formed, every
 * getter ends, and an error has words that start with the name of the file.
 */
#include <stdint.h>
#include <stdlib.h>

#include "config/document.h"

static void must(bool condition)
{
    if (!condition)
        abort();
}

static void must_be_said(const struct error *err)
{
    must(str_has_prefix(str_from(err->text), STR("fuzz:")));
}

/* Values reachable through the tree; the limit bounds them. */
static size_t walk(const struct node *n, struct arena *a)
{
    struct node_texts texts = {0};
    struct str text;
    struct error err;
    uint64_t bytes;
    int64_t ns;
    size_t count = 1;

    if (!node_is_text(n, &text, &err))
        must_be_said(&err);
    if (!node_is_duration(n, &ns, &err))
        must_be_said(&err);
    else
        must(ns >= 0);
    if (!node_is_bytes(n, &bytes, &err))
        must_be_said(&err);
    if (n->kind == NODE_MAP) {
        if (!node_text_list(n, "list", a, &texts, &err))
            must_be_said(&err);
        if (!node_check_keys(n, &err))
            must_be_said(&err);
    }
    must(n->kind == NODE_MAP || n->kind == NODE_LIST || n->n == 0);
    for (size_t i = 0; i < n->n; i++)
        count += walk(n->items[i], a);
    return count;
}

static void check(const struct node *root, struct arena *a,
                  const struct document_limits *limits, const struct error *err)
{
    if (root)
        must(walk(root, a) <= limits->nodes);
    else
        must_be_said(err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct document_limits limits = {
        .bytes = 1 << 20, .nodes = 5000, .depth = 32};
    struct document_source source = {"fuzz", str_of((const char *)data, size)};
    struct arena *a = arena_new();
    struct error err = {""};

    check(document_read_yaml(a, source, &limits, &err), a, &limits, &err);
    check(document_read_json(a, source, &limits, &err), a, &limits, &err);
    arena_free(a);
    return 0;
}
