/*
 * -traces: every sample with its labels and its stack.
 *
 * Stacks are written from a block of lines that is made once for each
 * location: a big profile has tens of millions of frames.
 */
#include "base/i64.h"
#include "base/utf8.h"
#include "report/context.h"
#include "report/frame.h"
#include "report/sample_labels.h"

#define VALUE_WIDTH 10
#define INDENT      (VALUE_WIDTH + 3)

static const struct str separator =
    STR_INIT("-----------+"
             "-------------------------------------------------------\n");

/* The lines of each location, every one indented: texts[i] .. texts[i+1]. */
struct blocks {
    struct buf bytes;
    size_t *start;
};

static void blocks_make(struct blocks *b, const struct report *r)
{
    const struct profile *p = r->profile;

    b->bytes = arena_buf(r->arena);
    b->start = arena_new_array(r->arena, size_t, p->locations.n + 1);
    for (size_t i = 0; i < p->locations.n; i++) {
        const struct location *l = &p->locations.v[i];
        uint32_t n = l->n_lines > 0 ? l->n_lines : 1;

        b->start[i] = b->bytes.len;
        for (uint32_t line = 0; line < n; line++) {
            struct frame f = frame_of(r->arena, p, l, line, false);

            buf_add_pad(&b->bytes, ' ', INDENT);
            frame_add_name(&b->bytes, &f);
            if (line + 1 < n)
                buf_add(&b->bytes, STR(" (inline)"));
            buf_add_char(&b->bytes, '\n');
        }
    }
    b->start[p->locations.n] = b->bytes.len;
}

static struct str block_of(const struct blocks *b, uint32_t location)
{
    return str_of(b->bytes.data + b->start[location],
                  b->start[location + 1] - b->start[location]);
}

static void add_label_line(const struct report *r, const struct label_group *g,
                           struct buf *out)
{
    const struct profile *p = r->profile;

    buf_add_right(out, profile_str(p, g->key), VALUE_WIDTH);
    buf_add(out, STR(": "));
    for (size_t i = 0; i < g->n; i++) {
        buf_add_char(out, ' ');
        if (g->kind == LABEL_STRING)
            buf_add(out, profile_str(p, g->labels[i].str));
        else
            measure_label(out, g->labels[i].num,
                          label_units_of(&r->label_units, p, g->key),
                          STR("auto"));
    }
    buf_add_char(out, '\n');
}

/* String labels first, numeric ones after; each in the order of the lines. */
static void add_labels(const struct report *r, size_t sample,
                       struct text_list *lines, struct buf *out)
{
    bool strings = true;
    struct label_group g;
    size_t at = 0;

    while (label_group_next(r->profile, sample, &at, &g)) {
        if (strings && g.kind != LABEL_STRING) {
            text_list_flush(lines, out, STR(""));
            strings = false;
        }
        add_label_line(r, &g, &lines->bytes);
        text_list_end(lines);
    }
    text_list_flush(lines, out, STR(""));
}

static void add_stack(const struct report *r, size_t sample,
                      const struct blocks *blocks, struct buf *out)
{
    const uint32_t *stack = r->profile->stack + r->profile->loc_start[sample];
    size_t depth = profile_depth(r->profile, sample);
    int64_t value = report_value(r, sample);
    int64_t divisor = report_divisor(r, sample);

    report_add_value_right(r, out, divisor ? i64_div(value, divisor) : value,
                           VALUE_WIDTH);
    buf_add_pad(out, ' ', INDENT - VALUE_WIDTH);
    buf_add(out, str_skip(block_of(blocks, stack[0]), INDENT));
    for (size_t i = 1; i < depth; i++)
        buf_add(out, block_of(blocks, stack[i]));
}

bool format_traces(struct report *r, struct buf *out, struct error *err)
{
    const struct profile *p = r->profile;
    size_t before = out->len;
    struct text_list lines;
    struct blocks blocks;
    bool ok = true;

    report_add_profile_labels(r, out);
    if (out->len == before)
        buf_add_char(out, '\n');
    blocks_make(&blocks, r);
    text_list_init(&lines, r->arena);
    for (size_t i = 0; ok && i < p->n_samples; i++) {
        if (profile_depth(p, i) == 0)
            continue;
        buf_add(out, separator);
        add_labels(r, i, &lines, out);
        add_stack(r, i, &blocks, out);
        ok = report_drain(r, out, err);
    }
    buf_add(out, separator);
    text_list_release(&lines);
    buf_release(&blocks.bytes);
    return ok;
}
