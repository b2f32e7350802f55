/*
 * JSON by Jansson, copied into our tree.
 *
 * Jansson knows the line and column of a syntax error only, so the nodes have
 * none.  The copy costs one pass; it buys one kind of tree for all readers,
 * in an arena, without reference counts.
 */
#include <jansson.h>
#include <stdio.h>

#include "base/memory_scope.h"
#include "base/number.h"
#include "config/document.h"
#include "config/document_make.h"

struct reader {
    struct scope_resource resource;
    struct document_builder *document;
    json_t *json;
    unsigned depth;
    struct error *err;
};

static void release(struct reader *r)
{
    memory_scope_disown(&r->resource);
    json_decref(r->json);
}

static void release_resource(struct scope_resource *r)
{
    release((struct reader *)((char *)r - offsetof(struct reader, resource)));
}

static struct str copy(const struct reader *r, const char *s, size_t n)
{
    return arena_str(r->document->arena, str_of(s, n));
}

static struct str number_text(const struct reader *r, const json_t *json)
{
    char text[64];
    int n;

    if (json_is_integer(json))
        return copy(r, text, number_put_i64(text, json_integer_value(json)));
    n = snprintf(text, sizeof(text), "%.17g", json_real_value(json));
    return copy(r, text, (size_t)n);
}

static void fill_scalar(const struct reader *r, struct node *n,
                        const json_t *json)
{
    if (json_is_string(json)) {
        n->is_quoted = true;
        n->text = copy(r, json_string_value(json), json_string_length(json));
    } else if (json_is_number(json)) {
        n->text = number_text(r, json);
    } else {
        n->text = json_is_true(json) ? STR("true") : STR("false");
    }
}

static const struct node *read_value(struct reader *r, json_t *json);

static bool fill_list(struct reader *r, struct node *n, const json_t *json)
{
    struct node_builder b = {.document = r->document, .node = n};
    size_t count = json_array_size(json);

    for (size_t i = 0; i < count; i++) {
        const struct node *item = read_value(r, json_array_get(json, i));

        if (!item)
            return false;
        document_builder_add(&b, item);
    }
    document_builder_finish(&b);
    return true;
}

static bool fill_map(struct reader *r, struct node *n, json_t *json)
{
    struct node_builder b = {.document = r->document, .node = n};
    const char *key;
    json_t *value;

    json_object_foreach(json, key, value)
    {
        const struct node *item = read_value(r, value);

        if (!item || !document_builder_add_key(&b, copy(r, key, strlen(key)), 0,
                                               0, r->err))
            return false;
        document_builder_add(&b, item);
    }
    document_builder_finish(&b);
    return true;
}

static bool fill(struct reader *r, struct node *n, json_t *json)
{
    if (n->kind == NODE_LIST)
        return fill_list(r, n, json);
    if (n->kind == NODE_MAP)
        return fill_map(r, n, json);
    if (n->kind == NODE_SCALAR)
        fill_scalar(r, n, json);
    return true;
}

static const struct node *read_value(struct reader *r, json_t *json)
{
    enum node_kind kind = json_is_array(json)    ? NODE_LIST
                          : json_is_object(json) ? NODE_MAP
                          : json_is_null(json)   ? NODE_NULL
                                                 : NODE_SCALAR;
    struct node *n;

    if (++r->depth > r->document->limits.depth) {
        document_fail(r->document->document, 0, 0, r->err,
                      "the values are nested too deeply");
        return NULL;
    }
    n = document_node(r->document, kind, 0, 0, r->err);
    if (!n || !fill(r, n, json))
        return NULL;
    r->depth--;
    return n;
}

const struct node *document_read_json(struct arena *a,
                                      struct document_source source,
                                      const struct document_limits *limits,
                                      struct error *err)
{
    struct document_builder *d = arena_alloc(a, sizeof(*d));
    struct reader *r = arena_alloc(a, sizeof(*r));
    const struct node *root;
    json_error_t problem;

    if (!document_begin(d, a, source, limits, err))
        return NULL;
    r->document = d;
    r->err = err;
    r->json = json_loadb(
        source.text.n ? source.text.s : "", source.text.n,
        JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL, &problem);
    if (!r->json) {
        document_fail(d->document,
                      problem.line > 0 ? (uint32_t)problem.line : 1,
                      problem.column > 0 ? (uint32_t)problem.column : 1, err,
                      "%s", problem.text);
        return NULL;
    }
    memory_scope_adopt(&r->resource, release_resource);
    root = read_value(r, r->json);
    release(r);
    return root;
}
