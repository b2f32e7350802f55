/*
 * The boxes of tags in a dot graph, with their dotted or solid lines from the
 * node.
 */
#include "report/format/dot_tags.h"

#include "report/graph/tag_boxes.h"

/* A box named `id` and the line from `source` to it. */
static void add_box(const struct report *r, struct buf *out,
                    const struct tag_box *b, const char *source, const char *id)
{
    struct buf value = arena_buf(r->arena);
    const char *v;

    report_add_value(r, &value, b->weight);
    v = buf_cstr(&value);
    buf_addf(out, "%s [label = \"", id);
    buf_add(out, b->name);
    buf_addf(out, "\" id=\"%s\" fontsize=8 shape=box3d tooltip=\"%s\"]\n", id,
             v);
    buf_addf(out,
             "%s -> %s [label=\" %s\" weight=100 tooltip=\"%s\" "
             "labeltooltip=\"%s\"%s]\n",
             source, id, v, v, v, b->dotted ? " style=\"dotted\"" : "");
    buf_release(&value);
}

void dot_add_tags(const struct graph *g, uint32_t node, size_t number,
                  struct buf *out)
{
    struct arena *a = arena_new();
    struct tag_boxes boxes = {0};
    const char **ids, *of_node = arena_printf(a, "N%zu", number);

    tag_boxes_make(&boxes, a, g, node);
    ids = arena_new_array(a, const char *, boxes.list.n);
    for (size_t i = 0; i < boxes.list.n; i++) {
        const struct tag_box *b = &boxes.list.v[i];
        const char *source = b->parent == NO_INDEX ? of_node : ids[b->parent];

        ids[i] = arena_printf(a, "%s%s_%zu", b->is_numeric ? "N" : "", source,
                              b->number);
        add_box(g->report, out, b, source, ids[i]);
    }
    arena_free(a);
}
