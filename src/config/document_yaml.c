/*
 * YAML by libyaml's events, which know their line and column.
 *
 * Aliases become the node that they stand for, not a copy; but they count as
 * many nodes as a copy would, so a few lines cannot stand for a billion.
 * Merge keys (<<) and tags are not supported: they are refused by name, since
 * ignoring them would mean something else than the author wrote.
 */
#include <yaml.h>

#include "base/memory_scope.h"
#include "config/document.h"
#include "config/document_make.h"

struct anchor {
    struct str name;
    const struct node *node; /* NULL while it is being read */
};

struct reader {
    struct scope_resource resource;
    struct document_builder *document;
    yaml_parser_t parser;
    yaml_event_t event;
    bool has_event;
    VEC(struct anchor) anchors;
    unsigned depth;
    struct error *err;
};

static void release(struct reader *r)
{
    memory_scope_disown(&r->resource);
    if (r->has_event)
        yaml_event_delete(&r->event);
    yaml_parser_delete(&r->parser);
}

static void release_resource(struct scope_resource *r)
{
    release((struct reader *)((char *)r - offsetof(struct reader, resource)));
}

static uint32_t line_of(yaml_mark_t mark)
{
    return (uint32_t)mark.line + 1;
}

static uint32_t column_of(yaml_mark_t mark)
{
    return (uint32_t)mark.column + 1;
}

/* --- events --------------------------------------------------------------- */

static bool fail(struct reader *r, const char *words)
{
    return document_fail(r->document->document, line_of(r->event.start_mark),
                         column_of(r->event.start_mark), r->err, "%s", words);
}

static bool syntax_error(struct reader *r)
{
    const yaml_parser_t *p = &r->parser;
    const char *words = p->problem ? p->problem : "out of memory";

    if (p->error == YAML_READER_ERROR)
        return document_fail(r->document->document, 0, 0, r->err,
                             "byte %zu: %s: save the file as UTF-8",
                             p->problem_offset, words);
    return document_fail(r->document->document, line_of(p->problem_mark),
                         column_of(p->problem_mark), r->err, "%s%s%s", words,
                         p->context ? " " : "", p->context ? p->context : "");
}

static bool next(struct reader *r)
{
    if (r->has_event)
        yaml_event_delete(&r->event);
    r->has_event = yaml_parser_parse(&r->parser, &r->event) == 1;
    return r->has_event || syntax_error(r);
}

static const char *tag_of(const yaml_event_t *e)
{
    switch (e->type) {
    case YAML_SCALAR_EVENT:
        return (const char *)e->data.scalar.tag;
    case YAML_SEQUENCE_START_EVENT:
        return (const char *)e->data.sequence_start.tag;
    case YAML_MAPPING_START_EVENT:
        return (const char *)e->data.mapping_start.tag;
    default:
        return NULL;
    }
}

static const char *anchor_of(const yaml_event_t *e)
{
    switch (e->type) {
    case YAML_SCALAR_EVENT:
        return (const char *)e->data.scalar.anchor;
    case YAML_SEQUENCE_START_EVENT:
        return (const char *)e->data.sequence_start.anchor;
    case YAML_MAPPING_START_EVENT:
        return (const char *)e->data.mapping_start.anchor;
    default:
        return NULL;
    }
}

/* --- nodes ---------------------------------------------------------------- */

static bool is_null(struct str text)
{
    return text.n == 0 || str_eq(text, STR("~")) || str_eq(text, STR("null")) ||
           str_eq(text, STR("Null")) || str_eq(text, STR("NULL"));
}

static struct str scalar_text(struct reader *r)
{
    return arena_str(r->document->arena,
                     str_of((const char *)r->event.data.scalar.value,
                            r->event.data.scalar.length));
}

static bool fill_scalar(struct reader *r, struct node *n)
{
    n->text = scalar_text(r);
    n->is_quoted = r->event.data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    if (!n->is_quoted && is_null(n->text))
        n->kind = NODE_NULL;
    return true;
}

static const struct node *read_node(struct reader *r);

static bool fill_list(struct reader *r, struct node *n)
{
    struct node_builder b = {.document = r->document, .node = n};
    const struct node *item;

    while (next(r)) {
        if (r->event.type == YAML_SEQUENCE_END_EVENT) {
            document_builder_finish(&b);
            return true;
        }
        item = read_node(r);
        if (!item)
            return false;
        document_builder_add(&b, item);
    }
    return false;
}

static bool read_key(struct reader *r, struct node_builder *b)
{
    struct str key;

    if (r->event.type != YAML_SCALAR_EVENT)
        return fail(r, "a key must be a word: write key: value");
    key = scalar_text(r);
    if (str_eq(key, STR("<<")))
        return fail(r, "merge keys are not supported: write the keys out");
    return document_builder_add_key(b, key, line_of(r->event.start_mark),
                                    column_of(r->event.start_mark), r->err);
}

static bool fill_map(struct reader *r, struct node *n)
{
    struct node_builder b = {.document = r->document, .node = n};
    const struct node *value;

    while (next(r)) {
        if (r->event.type == YAML_MAPPING_END_EVENT) {
            document_builder_finish(&b);
            return true;
        }
        if (!read_key(r, &b) || !next(r))
            return false;
        value = read_node(r);
        if (!value)
            return false;
        document_builder_add(&b, value);
    }
    return false;
}

static const struct node *read_alias(struct reader *r)
{
    struct str name = str_from((const char *)r->event.data.alias.anchor);

    for (size_t i = r->anchors.n; i-- > 0;) {
        const struct node *n = r->anchors.v[i].node;

        if (!str_eq(r->anchors.v[i].name, name))
            continue;
        if (!n)
            fail(r, "an alias within the value that it stands for");
        return n && document_count_again(r->document, n, r->err) ? n : NULL;
    }
    document_fail(r->document->document, line_of(r->event.start_mark),
                  column_of(r->event.start_mark), r->err,
                  "the alias has no anchor &%" STR_FMT " before it",
                  STR_ARG(name));
    return NULL;
}

static bool fill(struct reader *r, struct node *n)
{
    switch (n->kind) {
    case NODE_LIST:
        return fill_list(r, n);
    case NODE_MAP:
        return fill_map(r, n);
    default:
        return fill_scalar(r, n);
    }
}

static enum node_kind kind_of(yaml_event_type_t type)
{
    return type == YAML_SEQUENCE_START_EVENT  ? NODE_LIST
           : type == YAML_MAPPING_START_EVENT ? NODE_MAP
                                              : NODE_SCALAR;
}

/* The node that the current event starts. */
static const struct node *read_node(struct reader *r)
{
    const char *anchor = anchor_of(&r->event);
    size_t at = r->anchors.n;
    struct node *n;

    if (r->event.type == YAML_ALIAS_EVENT)
        return read_alias(r);
    if (tag_of(&r->event)) {
        fail(r, "tags are not supported: leave it out");
        return NULL;
    }
    if (++r->depth > r->document->limits.depth) {
        fail(r, "the values are nested too deeply");
        return NULL;
    }
    n = document_node(r->document, kind_of(r->event.type),
                      line_of(r->event.start_mark),
                      column_of(r->event.start_mark), r->err);
    if (!n)
        return NULL;
    if (anchor)
        *vec_push(r->document->arena, &r->anchors) = (struct anchor){
            .name = arena_str(r->document->arena, str_from(anchor))};
    if (!fill(r, n))
        return NULL;
    if (anchor)
        r->anchors.v[at].node = n;
    r->depth--;
    return n;
}

/* --- documents ------------------------------------------------------------ */

static const struct node *read_document(struct reader *r)
{
    const struct node *root;

    if (!next(r) || !next(r)) /* the stream starts, a document starts */
        return NULL;
    if (r->event.type == YAML_STREAM_END_EVENT) {
        root = document_node(r->document, NODE_MAP, 1, 1, r->err);
        return root;
    }
    if (!next(r) || !(root = read_node(r)) || !next(r) || !next(r))
        return NULL;
    if (r->event.type != YAML_STREAM_END_EVENT) {
        fail(r, "a second document in one file: remove the --- line");
        return NULL;
    }
    if (root->kind == NODE_NULL)
        return document_node(r->document, NODE_MAP, 1, 1, r->err);
    return root;
}

const struct node *document_read_yaml(struct arena *a,
                                      struct document_source source,
                                      const struct document_limits *limits,
                                      struct error *err)
{
    struct document_builder *d = arena_alloc(a, sizeof(*d));
    struct reader *r = arena_alloc(a, sizeof(*r));
    const struct node *root;

    if (!document_begin(d, a, source, limits, err))
        return NULL;
    r->document = d;
    r->err = err;
    if (!yaml_parser_initialize(&r->parser)) {
        error_set(err, "%s: out of memory", d->document->name);
        return NULL;
    }
    memory_scope_adopt(&r->resource, release_resource);
    yaml_parser_set_input_string(
        &r->parser, (const unsigned char *)source.text.s, source.text.n);
    root = read_document(r);
    release(r);
    return root;
}
